/* A column unit for tails of columns of a pileup: P(X >= K) of Poisson-binomial distributions by Algorithm 1 of Xu, Rixner
   and Cox (2023, doi 10.1145/3595297). Each process is a kernel; channels connect them. See README.md.

   With TRACE, for the emulator only, iterations of the loops are counted. */

#pragma OPENCL EXTENSION cl_intel_channels : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#include "parameters.h"

#ifdef TRACE
#define MOST_LOOPS 8
__global ulong iterations[MOST_LOOPS]; /* of the processing elements' loops */
__global ulong passes = 0;             /* trials of all blocks */
#define ITERATION(loop, variable, unrolled) \
    if ((variable) % (unrolled) == 0) iterations[LOOP_##loop]++;
#define COUNT_PASS() (passes++)
#else
#define COUNT_PASS()
#endif

#include "functions.h"

#define TASK __attribute__((max_global_work_dim(0)))
#define AUTORUN __attribute__((max_global_work_dim(0))) __attribute__((autorun))
#define WAIT_FOR_MEMORY() mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE)

@opencl_channels.h@

@CHANNELS@
@KERNELS@
#ifdef TRACE
/* Copy what was counted, and start counting anew. */
TASK
__kernel void report(__global ulong *restrict out)
{
    out[0] = passes;
    passes = 0;
    for (int loop = 0; loop < MOST_LOOPS; loop++) {
        out[1 + loop] = iterations[loop];
        iterations[loop] = 0;
    }
}
#endif
