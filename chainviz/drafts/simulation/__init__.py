"""The simulation page: replays every turn of a chain, with strategies after each turn, and shows the sizes of requests and the lost
messages.

In reading order: `run` (the simulation as JSON, and its job for a long chain), `chart` (the drawing, and the rows of cells below it),
`simulation_page`.
"""
