"""The command line, one module a command: `add_arguments(parser)` and `run(arguments) -> exit code`, imported when it is called.

`io` reads and writes files, options and reports; `server` is what the commands that serve pages or run jobs share.
"""
