"""APIs whose unit is an item (a text, a call, a result, a thought) and not a message: `item_units` (what both share), OpenAI
Responses (`responses_read`, `responses_write`) and Gemini Interactions (`gemini_interactions`)."""
