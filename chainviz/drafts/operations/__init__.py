"""The pages and jobs that run an operation and make its result a step of a draft."""
