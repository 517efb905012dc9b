"""What was redacted, masked and purged, by whom and when: decisions and sizes, never content."""
