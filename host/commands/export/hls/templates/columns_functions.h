/* The functions of the column unit, translated from Python: change the sources, not this file.

   Sizes are in parameters.h; comments give the meaning of each function and its place in syclade. Results have the
   bits of syclade's only if a compiler keeps each operation as it stands: no fused multiply-add, no reordering.
   TRIP() and ITERATION() count, if they are defined. */

#ifndef FUNCTIONS_H
#define FUNCTIONS_H

@loops.h@

@FUNCTIONS@
#endif
