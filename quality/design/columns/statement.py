"""Statement of the article, and whether it holds for the model."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Statement"]


@dataclass(frozen=True)
class Statement:
    """One statement of the article.

    Attributes:
        where: figure or section.
        text: the statement.
        holds: whether it is true for the model.
        found: the model's numbers, and why, if it does not hold.
    """

    where: str
    text: str
    holds: bool
    found: str
