"""Code that the commands for pages and jobs share."""
