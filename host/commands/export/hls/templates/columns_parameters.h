/* Sizes of the column unit, and types of its numbers. Written by syclade @VERSION@. */

#ifndef PARAMETERS_H
#define PARAMETERS_H

@DEFINES@
@number_types.h@
typedef double f64;

/* A column: every process gets it, and so knows how often its loops run. */
typedef struct {
    i64 trials;
    i64 at_least; /* K > 0, at most the trials */
} column;

/* A number of two parts. */
typedef struct {
    f64 high;
    f64 low;
} pair;

/* Blocks of entries k = low, low + 1, ... of a column; K or more successes are entry K. */
#define FOR_EACH_BLOCK(own) for (i64 low = 0; low <= (own).at_least; low += BLOCK)

/* Trials before this one leave all entries of the block ln 0. */
#define FIRST_TRIAL(low) ((low) > 0 ? (low) - 1 : 0)

#endif
