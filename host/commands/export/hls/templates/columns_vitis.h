/* The top function: all columns, one after another. */

#ifndef COLUMNS_H
#define COLUMNS_H

#include "parameters.h"

void columns(
    u64 count, /* columns */
    @POINTERS@);

#endif
