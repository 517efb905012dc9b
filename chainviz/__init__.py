"""chainviz: see, repair, edit and version LLM message chains."""
