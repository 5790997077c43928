/* The macro-pipeline: five autorun kernels, and io, which keeps chain states circulating (algorithm 3.10 of the
   thesis). Channels connect them to a ring. See README.md.

   With TRACE, for the emulator only, the kernels count trips and iterations of loops, and note when a stage works. */

#pragma OPENCL EXTENSION cl_intel_channels : enable

#include "parameters.h"

#ifdef TRACE
#define MOST_EVENTS (1 << 16)
__global uint events[MOST_EVENTS];  /* twice the number of the stage, and 1 where its work ends */
__global uint event_count = 0;
__global ulong trips = 0;           /* of all stages so far */
__global ulong trips_of[8];         /* of a stage's last step */
#define MOST_LOOPS 64
__global ulong iterations[MOST_LOOPS];       /* of the loops of the stage at work */
__global ulong iterations_of[8][MOST_LOOPS]; /* of a stage's last step */
__global ulong moved_of[8][4];               /* of a process's last step: received, sent, most of one array */
#define TRIP() (trips++)
#define ITERATION(loop, variable, unrolled)                                      \
    if ((variable) % (unrolled) == 0) iterations[LOOP_##loop]++;
#define NOTE(event)                                                              \
    {                                                                            \
        const uint at = atomic_inc((volatile __global uint *)&event_count);      \
        if (at < MOST_EVENTS) events[at] = (event);                              \
    }
#define MOVED(direction) moved[direction]++
#define MOVED_ALL(direction)                                                     \
    {                                                                            \
        const ulong of_one = moved[direction] - before[direction];               \
        moved[2 + (direction)] = max(moved[2 + (direction)], of_one);            \
        before[direction] = moved[direction];                                    \
    }
#define BEGIN_STATE() ulong moved[4] = {0, 0, 0, 0}, before[2] = {0, 0}
#define END_STATE(process)                                                       \
    for (int at = 0; at < 4; at++) moved_of[process][at] = moved[at]
#define BEGIN_STAGE(stage)                                                       \
    NOTE(2 * (stage));                                                           \
    const ulong trips_before = trips;                                            \
    for (int loop = 0; loop < MOST_LOOPS; loop++) iterations[loop] = 0
#define END_STAGE(stage)                                                         \
    trips_of[stage] = trips - trips_before;                                      \
    for (int loop = 0; loop < MOST_LOOPS; loop++) iterations_of[stage][loop] = iterations[loop]; \
    NOTE(2 * (stage) + 1)
#else
#define MOVED(direction)
#define MOVED_ALL(direction)
#define BEGIN_STATE()
#define END_STATE(process)
#define BEGIN_STAGE(stage)
#define END_STAGE(stage)
#endif

#include "stages.h"

#define TASK __attribute__((max_global_work_dim(0)))
#define AUTORUN __attribute__((max_global_work_dim(0))) __attribute__((autorun))
#define FOR_EACH_STATE while (1)

@opencl_channels.h@

#define COPY(to, from, length)                                  \
    for (int at = 0; at < (length); at++) {                     \
        (to)[at] = (from)[at];                                  \
    }
#define RECEIVE(array, length, stream)                          \
    for (int at = 0; at < (length); at++) {                     \
        READ((array)[at], stream)                               \
        MOVED(0);                                               \
    }                                                           \
    MOVED_ALL(0);
#define SEND(array, length, stream)                             \
    for (int at = 0; at < (length); at++) {                     \
        WRITE(stream, (array)[at])                              \
        MOVED(1);                                               \
    }                                                           \
    MOVED_ALL(1);
#define RECEIVE_PACKED(array, length, stream)                   \
    for (int at = 0; at < (length); at += UNROLL) {             \
        packet together;                                        \
        READ(together, stream)                                  \
        MOVED(0);                                               \
        _Pragma("unroll")                                       \
        for (int one = 0; one < UNROLL; one++) {                \
            (array)[at + one] = together.item[one];             \
        }                                                       \
    }                                                           \
    MOVED_ALL(0);
#define SEND_PACKED(array, length, stream)                      \
    for (int at = 0; at < (length); at += UNROLL) {             \
        packet together;                                        \
        _Pragma("unroll")                                       \
        for (int one = 0; one < UNROLL; one++) {                \
            together.item[one] = (array)[at + one];             \
        }                                                       \
        WRITE(stream, together)                                 \
        MOVED(1);                                               \
    }                                                           \
    MOVED_ALL(1);

@CHANNELS@
@STAGES@
@IO@
#ifdef TRACE
/* Copy what was counted, and start counting anew: number of events, trips of each stage, events, iterations of
   loops by stage, and of those that receive and send by process. */
TASK
__kernel void report(__global ulong *restrict out)
{
    out[0] = event_count < MOST_EVENTS ? event_count : MOST_EVENTS;
    for (int stage = 0; stage < 8; stage++) {
        out[1 + stage] = trips_of[stage];
    }
    for (uint at = 0; at < out[0]; at++) {
        out[9 + at] = events[at];
    }
    for (int stage = 0; stage < 8; stage++) {
        for (int loop = 0; loop < MOST_LOOPS; loop++) {
            out[9 + MOST_EVENTS + stage * MOST_LOOPS + loop] = iterations_of[stage][loop];
        }
        for (int at = 0; at < 4; at++) {
            out[9 + MOST_EVENTS + 8 * MOST_LOOPS + 4 * stage + at] = moved_of[stage][at];
        }
    }
    event_count = 0;
}
#endif
