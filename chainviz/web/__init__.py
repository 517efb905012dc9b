"""Code that all pages share: fragments, error pages, upload limit, template tags. Independent of chains and people."""
