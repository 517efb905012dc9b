"""Hostile content to safe HTML: text, markdown, JSON, images, rows and opened nodes. Knows no request and no database."""
