"""Messages as agent frameworks store them."""
