"""The page that converts observations: what each format would save and lose, and the changed messages.

choices.py reads the form and puts the page together; summary.py says what a plan comes to, plan_job.py makes it for a long
chain; changes.py shows the messages that change.
"""
