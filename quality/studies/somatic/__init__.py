"""Study of somatic calls of simulated tumours and normal samples, beside `lofreq somatic`."""
