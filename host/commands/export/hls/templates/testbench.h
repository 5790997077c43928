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

@read_vectors.h@

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

/* What processes note while they run, with COUNT: trips of loops in a stage's last step, iterations of the loops that
   a compiler pipelines, of those that receive and send (all, then the longest), and how many stages were at work. */
#define PROCESSES 6
#define MOST_LOOPS 64
static const char *const process_names[PROCESSES] = {
    "io", "propose", "find_parent", "tree_update", "score_mapping", "reduction"};
static thread_local u64 trips = 0, iterations[MOST_LOOPS];
static int line_of[MOST_LOOPS];
static u64 trips_of[PROCESSES], iterations_of[PROCESSES][MOST_LOOPS], moved_of[PROCESSES][4];
static std::atomic<int> at_work(0), most_at_work(0);
static std::atomic<u64> begins(0), sum_at_work(0);

#ifdef COUNT
static u64 begin_stage()
{
    const int now = ++at_work;
    begins++;
    sum_at_work += static_cast<u64>(now);
    int most = most_at_work;
    while (now > most && !most_at_work.compare_exchange_weak(most, now)) {
    }
    std::memset(iterations, 0, sizeof iterations);
    return trips;
}

static void end_stage(int stage, u64 before)
{
    trips_of[stage] = trips - before;
    std::memcpy(iterations_of[stage], iterations, sizeof iterations);
    at_work--;
}

#define TRIP() (trips++)
#define ITERATION(loop, variable, unrolled) \
    if ((variable) % (unrolled) == 0) iterations[LOOP_##loop]++; \
    static const int line_is_known = line_of[LOOP_##loop] = __LINE__
#define MOVED(direction) moved[direction]++
#define MOVED_ALL(direction)                                                                     \
    {                                                                                            \
        moved[2 + (direction)] = std::max(moved[2 + (direction)], moved[direction] - before[direction]); \
        before[direction] = moved[direction];                                                    \
    }
#define BEGIN_STATE() u64 moved[4] = {0, 0, 0, 0}, before[2] = {0, 0}
#define END_STATE(process) std::memcpy(moved_of[process], moved, sizeof moved)
#define BEGIN_STAGE(stage) const u64 trips_before = begin_stage()
#define END_STAGE(stage) end_stage(stage, trips_before)
#endif

#include "stages.h"

#define LOOP_NAME(name) #name,
static const char *const loop_names[] = {LOOPS(LOOP_NAME)};
static_assert(LOOP_COUNT <= MOST_LOOPS, "more loops than there is room for");

/* Print the trips of each stage, and the iterations of its loops, as JSON. */
static void print_counts()
{
    std::printf("\"trips\": {");
    for (int stage = 1; stage < PROCESSES; stage++) {
        std::printf("%s\"%s\": %lu", stage == 1 ? "" : ", ", process_names[stage], (unsigned long)trips_of[stage]);
    }
    std::printf("}, \"loops\": {");
    for (int process = 0; process < PROCESSES; process++) {
        std::printf("%s\"%s\": {\"receive\": %lu", process ? ", " : "", process_names[process],
            (unsigned long)moved_of[process][0]);
        for (int loop = 0; loop < LOOP_COUNT; loop++) {
            if (iterations_of[process][loop]) {
                std::printf(", \"%s\": %lu", loop_names[loop], (unsigned long)iterations_of[process][loop]);
            }
        }
        std::printf(", \"send\": %lu}", (unsigned long)moved_of[process][1]);
    }
    std::printf("}, \"longest_transfer\": {");
    for (int process = 0; process < PROCESSES; process++) {
        std::printf("%s\"%s\": {\"receive\": %lu, \"send\": %lu}", process ? ", " : "", process_names[process],
            (unsigned long)moved_of[process][2], (unsigned long)moved_of[process][3]);
    }
    std::printf("}");
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
    std::printf("{\"nodes\": %d, \"words\": %d, \"cells\": %d, \"unroll\": %d, \"chains\": %lu, \"steps\": %lu, \"runs\": [",
        NODES, WORDS, CELLS, UNROLL, (unsigned long)chains, (unsigned long)steps);
    for (std::size_t at = 0; at < states.size(); at++) {
        const u64 in_flight = states[at];
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
        std::printf("%s{\"states\": %lu, \"as_expected\": %s, \"wrong\": [%s], \"seconds\": %g, "
                    "\"steps_per_second\": %g, ",
            at == 0 ? "" : ", ", (unsigned long)in_flight, wrong.empty() ? "true" : "false", wrong.c_str(),
            seconds.count(), static_cast<double>(chains * steps) / seconds.count());
        print_counts();
        std::printf(", \"stages_at_once\": %g, \"most_stages_at_once\": %d}",
            static_cast<double>(sum_at_work) / static_cast<double>(std::max<u64>(1, begins)), most_at_work.load());
    }
    std::printf("], \"lines\": {");
    for (int loop = 0; loop < LOOP_COUNT; loop++) {
        std::printf("%s\"%s\": %d", loop ? ", " : "", loop_names[loop], line_of[loop]);
    }
    std::printf("}, \"as_expected\": %s}\n", all_right ? "true" : "false");
    return all_right ? 0 : 1;
}

#endif
