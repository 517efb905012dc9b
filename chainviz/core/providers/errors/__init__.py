"""Error messages of APIs. Read in this order: `pasted_text` (what is around a message), `sentences` (how the sentence of a rule recognises
itself), `wordings` (others than the rules quote), `error_messages`, `locate_error` (where in a chain), `what_was_tried`."""
