"""One module for each page or fragment of the explorer."""
