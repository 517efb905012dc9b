"""Where chains hold secrets: scans, and what they found in words."""
