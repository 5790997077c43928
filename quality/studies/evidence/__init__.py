"""Trees of reads, beside trees of their calls and beside ScisTree2: which are nearer to the truth?"""
