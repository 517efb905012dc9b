"""Tokens of a chain: what its source records (`recorded` in messages, `beside` them), what a model costs and takes
(`model_figures`), and estimates where nothing is recorded (`estimate`)."""
