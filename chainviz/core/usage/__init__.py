"""The facts that the source of a chain records: tokens (`recorded` in messages, `document_usage` beside them), times
and a title. Also the prices and limits of models, and estimates of tokens if none are recorded
(`model_catalog`)."""
