"""The stored content of messages: uploads, runs, pieces of runs, bodies, and how they are read."""
