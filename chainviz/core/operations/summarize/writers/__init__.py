"""Writers of summaries: `contract` (request, prompt, result, and summaries by hand), `context_window`, and `extractive`, which
needs no network. Writers that call a model are in `chainviz.llm`.
"""
