"""What the rules of all providers are made of."""
