"""The commands for pages, jobs and the installation, and for a server elsewhere. What they share is in `startup`."""
