"""One module a command: `add_arguments(parser)` and `run(arguments) -> exit code`. Imported only when it is used."""
