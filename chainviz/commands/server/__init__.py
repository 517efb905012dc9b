"""What the commands that serve pages or run jobs share."""
