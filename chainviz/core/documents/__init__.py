"""Source bytes to units and back: what a file is before any provider's format is known (DESIGN 4.1)."""
