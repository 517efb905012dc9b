"""Slow work: its row, lease and progress. Finds functions by the names of settings.JOBS; never knows what they do."""
