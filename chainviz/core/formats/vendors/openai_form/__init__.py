"""The messages of OpenAI's chat API, which other vendors and many programs use with small differences."""
