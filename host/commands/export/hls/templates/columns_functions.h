/* The functions of the column unit, translated from Python: change the sources, not this file.

   Sizes are in parameters.h; comments give the meaning of each function and its place in syclade. Results have the
   bits of syclade's only if a compiler keeps each operation as it stands: no fused multiply-add, no reordering.
   TRIP() and ITERATION() count, if they are defined. */

#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#ifndef TRIP
#define TRIP()
#endif

/* An iteration of a pipelined loop: as many trips as there are processing elements. */
#ifndef ITERATION
#define ITERATION(loop, variable, unrolled)
#endif

#define LOOPS(ENTRY)@ENTRIES@

#define LOOP_NUMBER(name) LOOP_##name,
enum { LOOPS(LOOP_NUMBER) LOOP_COUNT };

@FUNCTIONS@
#endif
