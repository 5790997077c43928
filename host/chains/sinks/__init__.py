"""Consumers of events, one per file; each is a `host.chains.events.Sink`."""

from syclade.host.chains.sinks.distinct_trees import DistinctTrees, FoundTree
from syclade.host.chains.sinks.trace import Trace

__all__ = ["DistinctTrees", "FoundTree", "Trace"]
