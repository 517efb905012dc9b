"""Recorded streams of answers: `events` (a text as its events), `chunks` (what joining the chunks of every API needs) and the
chunks of each API: `anthropic`, `openai` (Chat Completions, Mistral's accent of it, Responses), `gemini` (generateContent and
Interactions), `bedrock`, `cohere` (both versions), `ollama`."""
