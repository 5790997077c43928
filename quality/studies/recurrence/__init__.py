"""Tests of recurrence: do they find recurrences among clones of unequal sizes, and only these?"""
