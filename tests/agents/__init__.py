"""Real agents as the proof of `chainviz fix`: what it writes, the agent itself resumes.

The published programs of the agents run in a network namespace in which only a scripted model answers. `make test-agents`.
"""
