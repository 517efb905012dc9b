"""The facts that the source of a chain records: tokens (`recorded` in messages, `document_usage` beside them), times
and a title. Also the prices and limits of models (`model_catalog`), and estimates of tokens if none are recorded
(`estimate`)."""
