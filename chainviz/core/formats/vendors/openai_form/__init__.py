"""The message form of the OpenAI chat API, which other vendors and many programs share."""
