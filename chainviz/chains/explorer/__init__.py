"""The explorer, which shows one version or draft of a chain: windows of rows, charts, the inspector."""
