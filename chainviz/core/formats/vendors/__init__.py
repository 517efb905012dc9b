"""Formats of the APIs of model vendors."""
