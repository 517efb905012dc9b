"""What the commands read and print: `files`, `option_values`, `reports`, `check_reports`."""
