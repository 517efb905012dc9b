"""The library: the table of chains, and the bin."""
