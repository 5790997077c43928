/* The top function: all chains, from their states before the first step to those after the last one. */

#ifndef PIPELINE_H
#define PIPELINE_H

#include "parameters.h"

void pipeline(
    u64 passes,  /* how often states leave io: the steps of all chains */
    u64 chains,
    u64 states,  /* chain states in flight, at most STATES */
    @POINTERS@);

#endif
