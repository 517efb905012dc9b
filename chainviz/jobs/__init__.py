"""Jobs for slow work: their rows, leases and progress. settings.JOBS names the functions; this app imports none of them."""
