"""The page that converts observations: what each format would save and lose, and the changed messages.

In reading order: `observation_choices` (the form and the page), `summary` (what a plan comes to), `changes` (the messages that change).
"""
