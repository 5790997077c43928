/* The macro-pipeline: five stages, and io, which keeps chain states circulating (algorithm 3.10 of the thesis).
   Each is a kernel; pipes connect them to a ring. See README.md. */

#include <sycl/sycl.hpp>
#include <sycl/ext/intel/fpga_extensions.hpp>

#if defined(FPGA_HARDWARE) || defined(FPGA_SIMULATOR)
#undef COUNT
#endif

#include "testbench.h"

#ifndef BEGIN_STAGE
#define MOVED(direction)
#define MOVED_ALL(direction)
#define BEGIN_STATE()
#define END_STATE(process)
#define BEGIN_STAGE(stage)
#define END_STAGE(stage)
#endif

#define FOR_EACH_STATE for (u64 pass = 0; pass < passes; pass++)
#define COPY(to, from, length)                                          \
    for (int at = 0; at < (length); at++) {                             \
        (to)[at] = (from)[at];                                          \
    }
#define RECEIVE(array, length, stream)                                  \
    for (int at = 0; at < (length); at++) {                             \
        (array)[at] = stream::read();                                   \
        MOVED(0);                                                       \
    }                                                                   \
    MOVED_ALL(0);
#define SEND(array, length, stream)                                     \
    for (int at = 0; at < (length); at++) {                             \
        stream::write((array)[at]);                                     \
        MOVED(1);                                                       \
    }                                                                   \
    MOVED_ALL(1);
#define RECEIVE_PACKED(array, length, stream)                           \
    for (int at = 0; at < (length); at += UNROLL) {                     \
        const packet together = stream::read();                         \
        MOVED(0);                                                       \
        _Pragma("unroll")                                               \
        for (int one = 0; one < UNROLL; one++) {                        \
            (array)[at + one] = together.item[one];                     \
        }                                                               \
    }                                                                   \
    MOVED_ALL(0);
#define SEND_PACKED(array, length, stream)                              \
    for (int at = 0; at < (length); at += UNROLL) {                     \
        packet together;                                                \
        _Pragma("unroll")                                               \
        for (int one = 0; one < UNROLL; one++) {                        \
            together.item[one] = (array)[at + one];                     \
        }                                                               \
        stream::write(together);                                        \
        MOVED(1);                                                       \
    }                                                                   \
    MOVED_ALL(1);

template <class Name, typename Type, int Depth>
using Stream = sycl::ext::intel::pipe<Name, Type, Depth>;

@PIPES@
@KERNELS@
@oneapi_on_device.h@

int main(int count, char **numbers)
{
@oneapi_queue.h@
    return run_all(count, numbers, [&](u64 passes, u64 chains, u64 states, Arrays &arrays) {
@ON_DEVICE@@START@    });
}
