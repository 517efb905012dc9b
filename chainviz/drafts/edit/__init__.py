"""Edit one node: its form, its earlier texts, and their restoration."""
