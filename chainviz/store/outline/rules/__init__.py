"""What rows break, told from the outline alone."""
