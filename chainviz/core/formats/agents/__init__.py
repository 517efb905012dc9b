"""Session files of coding agents."""
