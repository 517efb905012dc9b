"""Who is looking. In local mode that is always the one owner."""
