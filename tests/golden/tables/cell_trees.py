"""Chains of cell trees (--tree leaf)."""

from __future__ import annotations

from tests.golden.run import ALL, CPU, SYCL, infer

LEAVES = (
    infer("leaf-tiny", "tiny", "--tree leaf --chains 3 --steps 900", also=ALL),
    infer("leaf-small", "small", "--tree leaf --chains 3 --steps 3000", also=SYCL),
    infer("leaf-rule", "tiny", "--tree leaf --method chain --chains 4", also=CPU, never=("numpy",)),
    infer(
        "leaf-moves", "small", "--tree leaf --chains 2 --steps 2000 --move-probs 0.9 0.1 0 --gamma 2 --seed 8"
    ),
    infer("leaf-128-cells", "n127", "--tree leaf --chains 2 --steps 2000", also=CPU, never=("numpy",)),
    infer("leaf-twos", "twos", "--tree leaf --chains 2 --steps 2000", also=CPU),
    infer(
        "leaf-names",
        "small",
        "--tree leaf --chains 2 --steps 900 --names {names}/mutations --cell-names {names}/cells",
    ),
    infer("leaf-samples", "small", "--tree leaf --chains 3 --steps 4000 --samples 25", also=CPU),
    infer(
        "leaf-samples-slots",
        "tiny",
        "--tree leaf --chains 5 --steps 1500 --samples 10 --slots 2 --burn-in 0.5",
    ),
    infer("leaf-many-cells", "many-cells", "--tree leaf --chains 1 --steps 500", never=("numpy",)),
    infer("leaf-pat", "pat", "--tree leaf --chains 2 --steps 2000", never=("numpy",)),
)
