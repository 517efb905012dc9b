"""Read and edit JSON text without changing any other byte: `scan` (tokens and offsets in a sliding window), `decode` (one value,
and JSON inside a JSON string), `edit` (changes in place), `long_values` (very long strings and lists)."""
