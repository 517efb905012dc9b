"""OpenAI: Chat Completions, Responses, threads of assistants and Realtime sessions."""
