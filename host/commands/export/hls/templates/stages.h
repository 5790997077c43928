/* The stages of the pipeline, translated from Python: change the sources, not this file.

   Each stage works on one chain state in memory of its own. Sizes are in parameters.h; comments give the
   meaning of each function and its place in syclade. TRIP() and ITERATION() count, if they are defined. */

#ifndef STAGES_H
#define STAGES_H

#ifndef TRIP
#define TRIP()
#endif

/* An iteration of a pipelined loop: a trip, or as many as are unrolled. */
#ifndef ITERATION
#define ITERATION(loop, variable, unrolled)
#endif

/* The pipelined loops, ENTRY(name) for each: innermost loops that are not unrolled completely. */
#define LOOPS(ENTRY)@ENTRIES@

#define LOOP_NUMBER(name) LOOP_##name,
enum { LOOPS(LOOP_NUMBER) LOOP_COUNT };

@FUNCTIONS@
#endif
