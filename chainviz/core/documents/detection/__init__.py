"""Find the message lists of a file.

`detect` is the entry point. `recognition` asks the formats what a message is and takes samples for them; `find_lists` and
`json_lines` search a file, even a broken one; and `sequences` joins the lists of one chain.
"""
