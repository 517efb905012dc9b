"""What the commands read and print: `files`, `option_values`, `check_reports`."""
