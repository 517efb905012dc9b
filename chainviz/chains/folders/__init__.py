"""Folders of this machine whose files are listed, and read when they are opened.

In reading order: `models` (which folders), `choose_folders` (what a person may name, and where each chain came from), `scan`
(the files of a folder), `opening` (a file into the library, and again when it has grown), `listing` (the rows of the page), `view`.
"""
