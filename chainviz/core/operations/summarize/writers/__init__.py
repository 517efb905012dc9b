"""Who writes a summary: `contract` (what a writer is asked and gives back), `prompt`, and the writers that need no network:
`manual` and `extractive`. Writers that talk to a model are in `chainviz.llm`."""
