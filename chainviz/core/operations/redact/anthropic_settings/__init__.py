"""Anthropic's context editing settings as our options, and back."""
