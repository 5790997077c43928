/* Golden vectors, and reports of runs: the part of a testbench that does not depend on the compiler. */

#ifndef TESTBENCH_H
#define TESTBENCH_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parameters.h"

typedef std::map<std::string, std::vector<u64>> Arrays;

/* Read the blocks of vectors.bin: a name of 32 bytes, the number of elements, and the elements. */
static Arrays read_vectors(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    Arrays arrays;
    char name[33] = {0};
    while (file.read(name, 32)) {
        u64 count = 0;
        file.read(reinterpret_cast<char *>(&count), sizeof count);
        std::vector<u64> content(count);
        file.read(reinterpret_cast<char *>(content.data()), static_cast<std::streamsize>(8 * count));
        arrays[name] = content;
    }
    if (!arrays.count("run")) {
        std::fprintf(stderr, "testbench: %s has no golden vectors\n", path);
        std::exit(2);
    }
    return arrays;
}

static i64 *signed_of(Arrays &arrays, const char *name)
{
    return reinterpret_cast<i64 *>(arrays.at(name).data());
}

/* Return how often states leave io: every step of every chain, and once for a chain with no steps to do. */
static u64 passes_of(Arrays &arrays, u64 chains)
{
    const i64 *step = signed_of(arrays, "step"), *last = signed_of(arrays, "last_step");
    u64 passes = 0;
    for (u64 chain = 0; chain < chains; chain++) {
        passes += static_cast<u64>(std::max<i64>(1, last[chain] - step[chain]));
    }
    return passes;
}

/* What stages note while they run: trips of loops in their last step, and how many were at work. */
static thread_local u64 trips = 0;
static u64 trips_of[8];
static std::atomic<int> at_work(0), most_at_work(0);
static std::atomic<u64> begins(0), sum_at_work(0);

static u64 begin_stage()
{
    const int now = ++at_work;
    begins++;
    sum_at_work += static_cast<u64>(now);
    int most = most_at_work;
    while (now > most && !most_at_work.compare_exchange_weak(most, now)) {
    }
    return trips;
}

static void end_stage(int stage, u64 before)
{
    trips_of[stage] = trips - before;
    at_work--;
}

/* Run the golden inference for each number of states in flight, and print a report as JSON.

   Returns 0 if all states are as expected, 1 if one differs. */
static int run_all(int count, char **numbers, const std::function<void(u64, u64, u64, Arrays &)> &run)
{
    const Arrays vectors = read_vectors("vectors.bin");
    const u64 chains = vectors.at("run")[0], steps = vectors.at("run")[1];
    std::vector<u64> states;
    for (int at = 1; at < count; at++) {
        states.push_back(static_cast<u64>(std::atoi(numbers[at])));
        if (states.back() < 1 || states.back() > STATES) {
            std::fprintf(stderr, "testbench: 1 to %d states may be in flight, not %s\n", STATES, numbers[at]);
            return 2;
        }
    }
    if (states.empty()) {
        states = {1, STATES};
    }
    bool all_right = true;
    std::printf("{\"chains\": %lu, \"steps\": %lu, \"runs\": [", (unsigned long)chains, (unsigned long)steps);
    for (const u64 in_flight : states) {
        Arrays found = vectors;
        begins = sum_at_work = 0;
        most_at_work = 0;
        const auto started = std::chrono::steady_clock::now();
        run(passes_of(found, chains), chains, in_flight, found);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
        std::string wrong;
        for (const auto &block : vectors) {
            const std::string name = block.first.rfind("expected_", 0) == 0 ? block.first.substr(9) : "";
            if (!name.empty() && found.at(name) != block.second) {
                wrong += (wrong.empty() ? "\"" : ", \"") + name + "\"";
            }
        }
        all_right = all_right && wrong.empty();
        std::printf("%s{\"states\": %lu, \"wrong\": [%s], \"seconds\": %g, \"steps_per_second\": %g, \"trips\": [",
            in_flight == states.front() ? "" : ", ", (unsigned long)in_flight, wrong.c_str(), seconds.count(),
            static_cast<double>(chains * steps) / seconds.count());
        for (int stage = 1; stage <= 5; stage++) {
            std::printf("%s%lu", stage == 1 ? "" : ", ", (unsigned long)trips_of[stage]);
        }
        std::printf("], \"stages_at_once\": %g, \"most_stages_at_once\": %d}",
            static_cast<double>(sum_at_work) / static_cast<double>(std::max<u64>(1, begins)), most_at_work.load());
    }
    std::printf("], \"as_expected\": %s}\n", all_right ? "true" : "false");
    return all_right ? 0 : 1;
}

#endif
