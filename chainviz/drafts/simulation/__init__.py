"""The simulation page: replays every turn of a chain, with strategies after each, and shows the sizes of requests and
what is lost.

In reading order: run (the simulation as values that are JSON), run_job (that of a long chain), chart (its drawing),
lanes (rows of cells
below it), page.
"""
