"""How messages are spelled: the JSON shapes that several formats share, read as parts and written back leaf by leaf.

In reading order: `values` (members of any type, and new values in the spelling of their neighbours), `leaf` (parts that know the
place of each value), `content` (texts, lists of elements, images), `items` (units that are not messages), `units` (several units
that make one message), `losses`, `api_errors` (what an API sends in place of an answer).
"""
