"""Purge values of a chain for good: the store does it to contents, this to everything else that may contain them.

The one package that knows every app: titles, file names, arrivals, jobs, summaries, audit (`values`). A purge is a job: one
transaction, then the database's files. Killed before the end of the transaction it has changed nothing; killed behind it, the worker
that takes over only cleans the files.
"""
