/* A column unit for tails of columns of a pileup: P(X >= K) of Poisson-binomial distributions by Algorithm 1 of Xu, Rixner
   and Cox (2023, doi 10.1145/3595297). Each process is a kernel; pipes connect them. See README.md. */

#include <sycl/sycl.hpp>
#include <sycl/ext/intel/fpga_extensions.hpp>

#if defined(FPGA_HARDWARE) || defined(FPGA_SIMULATOR)
#undef COUNT
#endif

#include "testbench.h"

#define READ(value, stream) value = stream::read();
#define WRITE(stream, value) stream::write(value);
#define WAIT_FOR_MEMORY() sycl::atomic_fence(sycl::memory_order::seq_cst, sycl::memory_scope::device)

template <class Name, typename Type, int Depth>
using Stream = sycl::ext::intel::pipe<Name, Type, Depth>;

@PIPES@
@KERNELS@
@oneapi_on_device.h@

int main()
{
@oneapi_queue.h@
    return run_all([&](u64 count, Arrays &arrays) {
@ON_DEVICE@@START@    });
}
