/* The stages of the pipeline, translated from Python: change the sources, not this file.

   Each stage works on one chain state in memory of its own. Sizes are in parameters.h; comments give the
   meaning of each function and its place in syclade. TRIP() and ITERATION() count, if they are defined. */

#ifndef STAGES_H
#define STAGES_H

@loops.h@

@FUNCTIONS@
#endif
