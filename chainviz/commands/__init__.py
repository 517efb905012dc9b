"""The command line. A module has one command or several that are used together, and is imported when one of them is called.

A command has two functions: `add_NAME_arguments(parser)` and `run_NAME(arguments) -> exit code`. `io` reads and writes files, options
and reports.
"""
