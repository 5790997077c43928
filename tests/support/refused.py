"""Kernels that a target may reject: values differ between lanes where lanes must share them."""

from __future__ import annotations

from typing import Any

import numpy as np

from syclade.kernels.target import device_function, private_array


def make_branch_by_lane(lanes: int) -> Any:
    """Return a kernel with a branch that differs between lanes."""

    @device_function
    def branch_by_lane(slot: Any, lane: Any, given: Any) -> None:
        value = given.x[slot * np.uint64(lanes) + lane]
        if value > np.int64(3):
            given.x[slot] = np.int64(0)

    return branch_by_lane


def make_loop_by_lane(lanes: int) -> Any:
    """Return a kernel with a loop that lanes end at different times."""

    @device_function
    def loop_by_lane(slot: Any, lane: Any, given: Any) -> None:
        total = np.int64(0)
        for _ in range(given.x[slot * np.uint64(lanes) + lane]):
            total = total + np.int64(1)
        given.x[slot] = total

    return loop_by_lane


def make_place_by_lane(lanes: int) -> Any:
    """Return a kernel that indexes a lane's private array with a value that differs between lanes."""

    @device_function
    def place_by_lane(slot: Any, lane: Any, given: Any) -> None:
        own = private_array(4, np.int64)
        own[lane] = np.int64(1)
        given.x[slot * np.uint64(lanes) + lane] = own[0]

    return place_by_lane


def make_shared_from_lane(lanes: int) -> Any:
    """Return a kernel with a number that lanes share in one iteration of a loop, but not in the next."""

    @device_function
    def shared_from_lane(slot: Any, lane: Any, given: Any) -> None:
        at = slot * np.uint64(lanes)
        while at < np.uint64(100):
            at = np.uint64(given.x[at + lane])
        given.x[slot] = np.int64(at)

    return shared_from_lane
