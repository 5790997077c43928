// Stand-in for the header of Vitis HLS: a stream between threads, whose reads wait.
#pragma once
#ifndef HLS_STREAM_THREAD_SAFE
#error "the pipeline's reads must wait for other threads"
#endif
#include <condition_variable>
#include <deque>
#include <mutex>

namespace hls {
template <typename T>
class stream {
    std::deque<T> content;
    std::mutex mutex;
    std::condition_variable changed;

public:
    explicit stream(const char *) {}
    T read()
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !content.empty(); });
        const T value = content.front();
        content.pop_front();
        return value;
    }
    void write(const T &value)
    {
        std::lock_guard<std::mutex> lock(mutex);
        content.push_back(value);
        changed.notify_one();
    }
};
}
