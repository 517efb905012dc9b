"""Sessions of Kimi Code."""
