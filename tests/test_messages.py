"""The page of messages has each warning of the sources, and no errors that the sources lack."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from tests.support.messages import errors, warnings

PAGE = (ROOT / "docs" / "messages.md").read_text("utf-8")

PARTS = (
    "the log-likelihood",
    "the log-likelihood has an effective sample size of … and an R-hat of …",
    ", and probabilities of ancestors a standard error of …",
    "; the chains agree on the probabilities of ancestors",
    "; … of … uncertain pairs have fewer than … effective samples",
    ": --support full samples longer",
    "…, by … nats on the mean",
    "mutations that occurred twice, or were lost, look like doublets, too…",
    "(--recurrent … tests them)",
    ", and so do cells deep in the tree, since all nodes are equally probable",
    "; chains cannot be compared by probabilities of ancestors",
)
"""Parts of other warnings."""


def quoted(part: str) -> set[str]:
    """Return the texts in code that a part of the page has."""
    return set(re.findall(r"`([^`]+)`", part))


def test_each_warning_is_explained() -> None:
    """A new or changed warning needs its line in docs/messages.md."""
    explained, found = quoted(PAGE), {message.text: message.where for message in warnings()}
    missing = {text: where for text, where in found.items() if text not in explained and text not in PARTS}
    assert not missing, "add these to docs/messages.md"
    assert set(PARTS) <= set(found)
    first, _, _ = PAGE.partition("\n## Errors that many meet")
    begun = (row.partition(" | ")[0] for row in first.splitlines() if row.startswith("| `"))
    stale = {text for row in begun for text in quoted(row) if text not in found}
    assert not stale, "no source has these warnings of docs/messages.md"


def test_errors_of_the_page_are_those_of_the_sources() -> None:
    page = PAGE.partition("\n## Errors that many meet")[2]
    known = {error.text for error in errors()}
    begun = [row.partition(" | ")[0] for row in page.splitlines() if row.startswith("| `")]
    assert len(begun) > 10
    assert not [text for row in begun for text in quoted(row) if text not in known]


def test_what_the_search_finds() -> None:
    """The control: texts of loggers, of results, and of functions that these use."""
    texts = {message.text for message in warnings()}
    assert "left out: …" in texts
    assert any(text.startswith("the estimate of … is the largest") for text in texts)
    assert len(texts) > 60
