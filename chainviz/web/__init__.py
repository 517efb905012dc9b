"""What all pages share: fragments, error pages, upload limit, template tags. Knows nothing of chains or people."""
