"""Runs that are stopped and resumed, and resumed runs that had ended."""

from __future__ import annotations

from signal import SIGKILL, SIGTERM

from tests.golden.run import CPU, Run, infer

RESUMED = (
    infer("resumed-steps", "small", "--chains 6 --steps 3000000", stopped=SIGKILL, never=("numpy",)),
    infer(
        "resumed-slots",
        "small",
        "--chains 5 --steps 3000000 --slots 2",
        stopped=SIGTERM,
        never=("numpy", "fpga-emu"),
    ),
    infer(
        "resumed-samples",
        "small",
        "--chains 4 --steps 2000000 --samples 2000 --burn-in 0",
        stopped=SIGKILL,
        never=("numpy",),
    ),
    infer(
        "resumed-shares",
        "small",
        "--chains 4 --steps 200000 --score shares --samples 2000 --burn-in 0",
        stopped=SIGKILL,
        never=("numpy", "fpga-emu"),
        rounded=True,
    ),
    infer("resumed-rule", "n63", "--method chain --chains 4", stopped=SIGTERM, never=("numpy", "fpga-emu")),
    infer(
        "resumed-search",
        "n127",
        "--method search --support none",
        stopped=SIGKILL,
        checkpoints=1,
        never=("numpy",),
    ),
    infer(
        "resumed-learned",
        "small",
        "--chains 4 --steps 1000000 --samples 1000 --burn-in 0 --learn-fn 0.2",
        stopped=SIGTERM,
        never=("numpy",),
        rounded=True,
    ),
    infer(
        "resumed-sum",
        "small",
        "--chains 4 --steps 1000000 --score sum",
        stopped=SIGTERM,
        never=("numpy",),
        rounded=True,
    ),
    infer(
        "resumed-leaf",
        "small",
        "--tree leaf --chains 4 --steps 2000000 --samples 1000 --burn-in 0",
        stopped=SIGKILL,
        never=("numpy",),
    ),
)

COMMAND = "infer {matrix:small} --fp-rate 0.01 --fn-rate 0.2 --quiet --device {device}"
CHAINS = f"{COMMAND} --chains 3 --steps 2000 --samples 20"

ENDED = (
    Run(
        "resumed-ended-chains",
        (f"{CHAINS} --checkpoint kept --out first", f"{CHAINS} --resume kept --out out"),
        also=CPU,
    ),
    Run(
        "resumed-ended-search",
        (f"{COMMAND} --checkpoint kept --out first", f"{COMMAND} --resume kept --out out"),
        never=("numpy",),
        rounded=True,
    ),
)
