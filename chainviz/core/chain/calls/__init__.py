"""Tool calls: their ids (`tool_ids`), their arguments (`arguments`), and which have results (`matching`)."""
