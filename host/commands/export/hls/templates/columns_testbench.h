/* Golden vectors of the column unit, and reports of runs: the part of a testbench that does not depend on the compiler. */

#ifndef TESTBENCH_H
#define TESTBENCH_H

#include <algorithm>
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

/* What the processing elements count while they run, with COUNT: iterations of their loops, and trials of all blocks. */
#define MOST_LOOPS 8
static u64 iterations[MOST_LOOPS], passes = 0;
#ifdef COUNT
#define ITERATION(loop, variable, unrolled) \
    if ((variable) % (unrolled) == 0) iterations[LOOP_##loop]++
#define COUNT_PASS() (passes++)
#else
#define COUNT_PASS()
#endif

#include "functions.h"

#define COUNTED_NAME(name) #name,
static const char *const loop_names[] = {LOOPS(COUNTED_NAME)};
static_assert(LOOP_COUNT <= MOST_LOOPS, "more loops than there is room for");

/* Compute the golden columns, and print a report as JSON.

   Returns 0 if all results have the expected bits, 1 if one differs. */
static int run_all(const std::function<void(u64, Arrays &)> &run)
{
    Arrays arrays = read_vectors("vectors.bin");
    const u64 columns = arrays.at("run")[0];
    const auto started = std::chrono::steady_clock::now();
    run(columns, arrays);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    std::string wrong, sizes, at_least;
    for (u64 number = 0; number < columns; number++) {
        const std::string between = number ? ", " : "";
        sizes += between + std::to_string(arrays.at("sizes")[number]);
        at_least += between + std::to_string(arrays.at("at_least")[number]);
        if (arrays.at("log_tail")[number] != arrays.at("expected_log_tail")[number]) {
            wrong += (wrong.empty() ? "" : ", ") + std::to_string(number);
        }
    }
    std::printf("{\"block\": %d, \"elements\": %d, \"columns\": %lu, \"sizes\": [%s], \"at_least\": [%s]", BLOCK, ELEMENTS,
        (unsigned long)columns, sizes.c_str(), at_least.c_str());
#ifdef COUNT
    std::printf(", \"passes\": %lu, \"iterations\": {", (unsigned long)passes);
    for (int loop = 0; loop < LOOP_COUNT; loop++) {
        std::printf("%s\"%s\": %lu", loop ? ", " : "", loop_names[loop], (unsigned long)iterations[loop]);
    }
    std::printf("}");
#endif
    std::printf(", \"seconds\": %g, \"wrong\": [%s], \"as_expected\": %s}\n", seconds.count(), wrong.c_str(),
        wrong.empty() ? "true" : "false");
    return wrong.empty() ? 0 : 1;
}

#endif
