"""Messages whose content is a list of blocks: `block_units` (what the shapes share), then Anthropic with `server_tools`, Bedrock
Converse and Gemini, each with a reader and a writer."""
