"""The simulation page: every turn of a chain again, with strategies after each; how large its requests were and what is lost.

In reading order: run (the simulation as values that are JSON), run_job (that of a long chain), chart (its drawing), lanes (rows of cells
below it), page.
"""
