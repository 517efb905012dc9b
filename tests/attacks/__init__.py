"""Stored-content attacks: hostile strings in every field that a person or a transcript can fill, on every page, in Chromium.

`strings.json` and `corpus`: the strings. `transcripts` and `world`: where they are stored. `addresses`: every page.
`watch`: what counts as a hit. The tests take the first round of strings; `make torture` takes all of them, and opens more with the first.
"""
