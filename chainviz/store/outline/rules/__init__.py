"""Find the problems of rows from the outline alone."""
