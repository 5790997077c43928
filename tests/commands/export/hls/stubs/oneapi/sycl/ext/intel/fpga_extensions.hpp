// Stand-in for Intel's FPGA extensions: a pipe between threads, which holds exactly as much as was asked for.
#pragma once
#include <sycl/sycl.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace sycl::ext::intel {
inline constexpr sycl::selector fpga_emulator_selector_v{};
inline constexpr sycl::selector fpga_selector_v{};
inline constexpr sycl::selector fpga_simulator_selector_v{};

template <class Name, typename T, int CAPACITY>
class pipe {
    static_assert(CAPACITY > 0, "a pipe without room");
    struct Content {
        std::deque<T> elements;
        std::mutex mutex;
        std::condition_variable changed;
    };
    static Content &content()
    {
        static Content one;
        return one;
    }

public:
    static T read()
    {
        Content &own = content();
        std::unique_lock<std::mutex> lock(own.mutex);
        own.changed.wait(lock, [&] { return !own.elements.empty(); });
        const T value = own.elements.front();
        own.elements.pop_front();
        own.changed.notify_all();
        return value;
    }
    static void write(const T &value)
    {
        Content &own = content();
        std::unique_lock<std::mutex> lock(own.mutex);
        own.changed.wait(lock, [&] { return own.elements.size() < CAPACITY; });
        own.elements.push_back(value);
        own.changed.notify_all();
    }
};
}
