"""Ollama, and the chat templates of models that Ollama and vLLM run."""
