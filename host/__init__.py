"""Everything around the kernels: devices, files, pipeline, API and command line.

Eight rooms; each may import those below it (`[tool.importlinter]` in pyproject.toml):

- `commands`: the command line, SCITE's and ∞SCITE's, exports, the kernels that come with the package.
- `answer`: `infer` from its arguments to a result with its files and report; batches of inferences.
- `findings`: the parts of an answer: support, samples, consensus, co-optimal trees, estimated rates.
- `chains`: Markov chains and searches, their encodings, runners, checkpoints and stored samples.
- `calls`: variant calling and the tails of its tests; knows no trees.
- `data`: matrices of every format, trees, the model of observations, diagnostics of numbers.
- `device`: which devices exist, engines, compiled kernels, workarounds, workers.
- `ground`: errors, values, files, options; what every room may use.
"""

import syclade

# Python takes any folder named syclade for a package, even one without __init__.py, such as a clone seen from
# its parent folder.
if getattr(syclade, "__file__", None) is None:
    raise ImportError(
        f"Python took the folder {next(iter(syclade.__path__))} for the package syclade, which is only "
        "called so: start Python in another folder, or as python -P"
    )
