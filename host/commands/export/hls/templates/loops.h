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
