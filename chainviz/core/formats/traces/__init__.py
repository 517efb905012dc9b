"""Traces and evaluation logs that contain messages."""
