"""Search in the contents of all chains of the library."""
