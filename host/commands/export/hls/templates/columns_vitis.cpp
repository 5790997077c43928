/* A column unit for tails of columns of a pileup: P(X >= K) of Poisson-binomial distributions by Algorithm 1 of Xu, Rixner
   and Cox (2023, doi 10.1145/3595297). The processes are those of one dataflow region. See README.md.

   Outside of synthesis, each process is a thread, so that the stream that leads back can be simulated. */

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

#include <hls_stream.h>

#include "parameters.h"
#include "columns.h"
#include "functions.h"

#ifndef COUNT_PASS
#define COUNT_PASS()
#endif

#define READ(value, stream) value = stream.read();
#define WRITE(stream, value) stream.write(value);
#define WAIT_FOR_MEMORY() /* see README.md */

@PROCESSES@
void columns(
    u64 count,
    @POINTERS@)
@vitis_region.h@

#ifndef __SYNTHESIS__
int main()
{
    return run_all([](u64 count, Arrays &arrays) {
        columns(count,
            @ARRAYS@);
    });
}
#endif
