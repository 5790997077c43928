"""Digests of outcomes, and differences between an outcome and a recorded one."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from tests.golden.outcome import Outcome

__all__ = ["differences", "digest_of"]

SHORT = 200
"""Most characters of a text or list that is recorded in full; longer ones are recorded by their SHA-256."""

DIGITS = 9
LONG_NUMBER = re.compile(r"-?\d+\.\d{7,}(?:e[+-]?\d+)?")

ROUNDED_KEYS = ("samples",)
"""Keys of summary.json that every run rounds: effective sample sizes come from numpy's FFT and logarithm."""


def digest_of(outcome: Outcome, rounded: bool) -> dict[str, Any]:
    """Return the record of an outcome: digests of texts, and a short form of JSON values.

    Args:
        outcome: of a run.
        rounded: whether long numbers are rounded to nine digits.
    """
    report = {}
    for name, content in outcome.items():
        if isinstance(content, str):
            report[name] = _short(_rounded_text(content) if rounded else content)
        else:
            report[name] = _values(content, rounded)
    return report


def differences(recorded: Any, found: Any, where: str = "") -> Iterator[str]:
    """Yield each difference as a message. New keys and files do not count.

    Args:
        recorded, found: results of `digest_of`.
        where: the file, and the keys that lead here.
    """
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key, value in recorded.items():
            place = f"{where}: {key}" if where else key
            if key not in found:
                yield f"{place} is missing"
            else:
                yield from differences(value, found[key], place)
    elif json.dumps(recorded) != json.dumps(found):  # NaN is equal to itself, 1 not to 1.0 or true
        yield f"{where} is {json.dumps(found)}, recorded was {json.dumps(recorded)}"


def _values(value: Any, rounded: bool) -> Any:
    """Shorten JSON: dicts keep their keys, lists of dicts become a dict of lists, long lists are hashed."""
    if isinstance(value, dict):
        return {key: _values(inner, rounded or key in ROUNDED_KEYS) for key, inner in value.items()}
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        keys = {key: None for one in value for key in one}
        return {key: _values([one.get(key) for one in value], rounded) for key in keys}
    if isinstance(value, list):
        text = json.dumps([_number(one, rounded) for one in value])
        return json.loads(text) if len(text) <= SHORT else _short(text)
    return _number(value, rounded)


def _number(value: Any, rounded: bool) -> Any:
    if rounded and isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    return value


def _rounded_text(text: str) -> str:
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.{DIGITS}g}", text)


def _short(text: str) -> str:
    if len(text) <= SHORT:
        return text
    return f"sha256 {hashlib.sha256(text.encode()).hexdigest()}"
