"""Parts of an answer: support, samples, consensus, co-optimal trees, rates; what kinds of trees differ in."""
