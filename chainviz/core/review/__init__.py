"""What becomes of the places of comments when a chain changes."""
