/* The macro-pipeline: five stages, and io, which keeps chain states circulating (algorithm 3.10 of the thesis).
   Streams connect them to a ring, in one dataflow region. See README.md.

   Outside of synthesis, each process is a thread, so that streams that lead back can be simulated. */

#ifndef __SYNTHESIS__
#define HLS_STREAM_THREAD_SAFE /* reads wait */
#include <thread>
#include <vector>
#define COUNT
#include "testbench.h"
#define START(...) running.emplace_back([&] { __VA_ARGS__; })
#else
#define START(...) __VA_ARGS__
#endif

#include <ap_int.h>
#include <hls_stream.h>

#include "parameters.h"
#include "pipeline.h"
#include "stages.h"

#ifndef BEGIN_STAGE
#define MOVED(direction)
#define MOVED_ALL(direction)
#define BEGIN_STATE()
#define END_STATE(process)
#define BEGIN_STAGE(stage)
#define END_STAGE(stage)
#endif

typedef ap_uint<32 * UNROLL> wide; /* a packet of numbers */

#define FOR_EACH_STATE for (u64 pass = 0; pass < passes; pass++)
#define COPY(to, from, length)                                          \
    for (int at = 0; at < (length); at++) {                             \
        _Pragma("HLS pipeline II=1")                                    \
        (to)[at] = (from)[at];                                          \
    }
#define RECEIVE(array, length, stream)                                  \
    for (int at = 0; at < (length); at++) {                             \
        _Pragma("HLS pipeline II=1")                                    \
        (array)[at] = stream.read();                                    \
        MOVED(0);                                                       \
    }                                                                   \
    MOVED_ALL(0);
#define SEND(array, length, stream)                                     \
    for (int at = 0; at < (length); at++) {                             \
        _Pragma("HLS pipeline II=1")                                    \
        stream.write((array)[at]);                                      \
        MOVED(1);                                                       \
    }                                                                   \
    MOVED_ALL(1);
#define RECEIVE_PACKED(array, length, stream)                           \
    for (int at = 0; at < (length); at += UNROLL) {                     \
        _Pragma("HLS pipeline II=1")                                    \
        const wide together = stream.read();                            \
        MOVED(0);                                                       \
        for (int one = 0; one < UNROLL; one++) {                        \
            _Pragma("HLS unroll")                                       \
            (array)[at + one] = (i32)(together >> (32 * one)).to_uint64(); \
        }                                                               \
    }                                                                   \
    MOVED_ALL(0);
#define SEND_PACKED(array, length, stream)                              \
    for (int at = 0; at < (length); at += UNROLL) {                     \
        _Pragma("HLS pipeline II=1")                                    \
        wide together = 0;                                              \
        for (int one = 0; one < UNROLL; one++) {                        \
            _Pragma("HLS unroll")                                       \
            together |= (wide)(uint32_t)(array)[at + one] << (32 * one); \
        }                                                               \
        stream.write(together);                                         \
        MOVED(1);                                                       \
    }                                                                   \
    MOVED_ALL(1);

@PROCESSES@
void pipeline(
    u64 passes,
    u64 chains,
    u64 states,
    @POINTERS@)
@vitis_region.h@

#ifndef __SYNTHESIS__
#ifndef NO_MAIN
int main(int count, char **numbers)
{
    return run_all(count, numbers, [](u64 passes, u64 chains, u64 states, Arrays &arrays) {
        pipeline(passes, chains, states,
            @ARRAYS@);
    });
}
#endif
#endif
