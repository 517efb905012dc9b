"""What the source of a chain records: tokens (`recorded` in messages, `document_usage` them), times and a title; what a model costs
and accepts (`model_catalog`); and estimates of tokens where nothing is recorded (`estimate`)."""
