"""Error messages of APIs: what class of error one is, and where in a chain it lies."""
