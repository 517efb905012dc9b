"""Read and edit JSON text without changing any other byte: `scan` (tokens and offsets in a sliding window), `decode` (one value),
`edit` (changes in place), `quoted` (JSON inside a JSON string), `long_values` (very long strings and lists)."""
