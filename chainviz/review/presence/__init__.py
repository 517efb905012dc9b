"""Who has a chain open, and whether a newer version was saved: asked for by open pages every 20 seconds."""
