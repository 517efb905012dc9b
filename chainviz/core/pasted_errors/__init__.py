"""The error message that a person pastes: the rules it may quote, and the place in a chain that it is about."""
