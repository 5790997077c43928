"""Chains that learn error rates, and chains with the sum score."""

from __future__ import annotations

from tests.golden.run import ALL, CPU, SYCL, infer

LEARNED = (
    infer("learned-fn", "small", "--chains 3 --steps 3000 --learn-fn 0.2", also=SYCL, rounded=True),
    infer("learned-fp", "small", "--chains 3 --steps 1200 --learn-fp 0.1", own_kernel=True, rounded=True),
    infer(
        "learned-both",
        "small",
        "--chains 3 --steps 1200 --learn-fn 0.2 --learn-fp 0.1",
        own_kernel=True,
        rounded=True,
    ),
    infer(
        "learned-priors",
        "noisy",
        "--chains 2 --steps 1200 --learn-fn 0.3 --fn-sd 0.05 --fn-step 0.02 "
        "--learn-fp 0.1 --fp-sd 0.01 --fp-step 0.005",
        own_kernel=True,
        rounded=True,
    ),
    infer(
        "learned-samples",
        "small",
        "--chains 2 --steps 1200 --learn-fn 0.2 --learn-fp 0.1 --samples 20",
        own_kernel=True,
        rounded=True,
    ),
    infer("learned-63", "n63", "--chains 2 --steps 2500 --learn-fn 0.2", rounded=True),
    infer("learned-64", "n64", "--chains 2 --steps 2500 --learn-fn 0.2", also=CPU, rounded=True),
    infer("learned-twos", "twos", "--chains 2 --steps 1200 --learn-fn 0.2", own_kernel=True, rounded=True),
    infer(
        "learned-co-optimal", "tiny", "--chains 2 --steps 2000 --learn-fn 0.2 --max-trees 20", rounded=True
    ),
    infer(
        "learned-gamma",
        "small",
        "--chains 2 --steps 2000 --learn-fn 0.2 --gamma 2 --move-probs 0.5 0.3 0.2",
        rounded=True,
    ),
)

SUMS = (
    infer("sum-small", "small", "--chains 3 --steps 2000 --score sum", also=ALL, rounded=True),
    infer(
        "sum-noisy",
        "noisy",
        "--chains 3 --steps 2000 --score sum --gamma 1.5 --seed 4",
        also=CPU,
        rounded=True,
    ),
    infer("sum-rule", "tiny", "--chains 4 --score sum", never=("numpy",), rounded=True),
    infer("sum-64", "n64", "--chains 2 --steps 2500 --score sum", also=CPU, rounded=True),
    infer("sum-twos", "twos", "--chains 2 --steps 2000 --score sum", rounded=True),
    infer("sum-samples", "small", "--chains 2 --steps 3000 --score sum --samples 20", also=CPU, rounded=True),
    infer(
        "shares-samples",
        "small",
        "--chains 3 --steps 2000 --score shares --samples 20",
        also=ALL,
        rounded=True,
    ),
    infer(
        "sum-from-searches",
        "small",
        "--chains 2 --steps 1000 --score sum --start search",
        never=("numpy",),
        rounded=True,
    ),
    infer("sum-attach", "small", "--chains 2 --steps 1000 --score sum --attach", rounded=True),
)
