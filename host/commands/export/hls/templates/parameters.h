/* Sizes of the pipeline, and types of its numbers. Written by syclade @VERSION@. */

#ifndef PARAMETERS_H
#define PARAMETERS_H

@DEFINES@
@number_types.h@

/* Numbers that travel together. */
typedef struct {
    i32 item[UNROLL];
} packet;

#endif
