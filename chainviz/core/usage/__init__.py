"""What the source of a chain records: tokens (`recorded` in messages, `beside` them), times and a title; what a model costs
and accepts (`prices`); and estimates of tokens where nothing is recorded (`estimate`)."""
