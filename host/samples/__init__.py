"""Trees sampled from the posterior while chains run: streamed, counted, judged."""
