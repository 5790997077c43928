"""Stages of the macro-pipeline as separate kernels, one per file.

One launch of each, in the order of `stage_arguments.STAGES`, is one step of a slot's chain. This is the
pipeline of the thesis (figure 3.1), split into kernels. Values that the composition (chain/steps.py) keeps in
registers between stages go through memory here. So stages can work on different chain states at the same
time.

Every factory returns a kernel's body: a device function of a slot, a lane and a record of the arguments that
`stage_arguments.py` lists. Loops have fixed trip counts: the capacities that a kernel is made for.
"""
