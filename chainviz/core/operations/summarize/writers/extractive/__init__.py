"""Summaries without a model: the most telling sentences of the text itself."""
