"""Reading a snapshot for a page: windows of rows, lists of problems, text search."""
