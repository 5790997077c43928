/* Sizes of the pipeline, and types of its numbers. Written by syclade @VERSION@. */

#ifndef PARAMETERS_H
#define PARAMETERS_H

@DEFINES@
#ifdef __OPENCL_VERSION__
typedef int i32;
typedef long i64;
typedef ulong u64;
#else
#include <cstdint>
typedef int32_t i32;
typedef int64_t i64;
typedef uint64_t u64;
#endif

/* Numbers that travel together. */
typedef struct {
    i32 item[UNROLL];
} packet;

#endif
