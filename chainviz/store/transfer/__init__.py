"""Documents into the store and out of it: import, copy, export."""
