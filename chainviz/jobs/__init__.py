"""Jobs for slow work: their rows, leases and progress. The functions are named in settings.JOBS; this app knows nothing of them."""
