/* The stages of the pipeline, translated from Python: change the sources, not this file.

   Each stage works on one chain state in memory of its own. Sizes are in parameters.h; comments give the
   meaning of each function and its place in syclade. TRIP() counts the trips of loops, if it is defined. */

#ifndef STAGES_H
#define STAGES_H

#ifndef TRIP
#define TRIP()
#endif

@FUNCTIONS@
#endif
