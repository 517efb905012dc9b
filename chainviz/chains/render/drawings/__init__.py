"""Charts, growth and minimap of a chain as SVG."""
