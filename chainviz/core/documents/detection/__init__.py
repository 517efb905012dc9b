"""Where the message lists of a file are: `recognition` (what the formats say a message is), `find_lists` and `json_lines`
(the search), `text_members` (strings that are messages), `sequences` (lists that make up one chain), `repeated_answers`
(answers that the list holds, too), `sample` (the first units, for the formats), `truncated` and `diagnostics` (broken
files), `detect` (the entry point)."""
