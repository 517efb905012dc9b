"""What the explorer shows of one content of a chain: windows of rows, charts, the inspector."""
