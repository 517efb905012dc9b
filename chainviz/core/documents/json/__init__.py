"""JSON text as text, with every byte in its place: `scan` (tokens and offsets in a sliding window), `decode` (one value),
`edit` (changes that leave all other bytes alone), `quoted` (JSON inside a JSON string), `long_values`."""
