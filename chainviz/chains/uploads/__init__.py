"""A file on its way into the library, until it is a chain."""
