"""How messages are spelled: the JSON shapes that several formats share, read as parts and written back leaf by leaf.

`chat`, `blocks`, `items` and `frameworks` hold one shape a file. What all shapes use, in reading order: `patching` (changed
values in source text), `leaves` (parts that know the place of each value), `parts_list`, `result_content`, `media`, `losses`,
`display_ids`; units that are not one message: `whole_units`, `unit_groups`, `call_result_units`. `streams` joins the chunks of recorded
streams; `api_errors` reads what an API sends in place of an answer.
"""
