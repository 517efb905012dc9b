"""Chat messages, one object a message: OpenAI's shape (`openai_read`, `openai_write` for new messages, `openai_patch` for
changed ones) and Ollama's (`ollama_read`, `ollama_write`)."""
