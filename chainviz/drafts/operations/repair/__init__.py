"""The repair page: a card for each fix, and the job that reads a long chain first."""
