"""The third view of a comparison: whole files, line by line."""
