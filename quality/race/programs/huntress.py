"""Run HUNTRESS (needs scphylo-tools): read a matrix from standard input, print each mutation's cells."""

import json
import sys

import pandas
import scphylo

request = json.load(sys.stdin)
frame = pandas.DataFrame(request["matrix"]).T  # in scphylo, cells are rows
frame.columns = [f"m{number}" for number in frame.columns]
frame.index = [f"c{number}" for number in frame.index]
found = scphylo.tl.huntress(frame, alpha=request["fp_rate"], beta=request["fn_rate"], n_threads=1)
found = found.loc[frame.index, frame.columns]
print()
print(json.dumps({"cells": found.to_numpy().astype(int).T.tolist()}))
