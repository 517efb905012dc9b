"""Folders of this machine whose files are listed, and read when they are opened.

In reading order: `choose_folders` (what a person may name, and where each chain came from), `opening` (the files of a folder; a
file into the library, and again when it has grown), `listing` (the rows of the page), `folder_pages`.
"""
