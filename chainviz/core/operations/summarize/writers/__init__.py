"""Writers of summaries: `contract` (request, result, and summaries by hand), `prompt`, `context_window`, and `extractive`, which
needs no network. Writers that call a model are in `chainviz.llm`.
"""
