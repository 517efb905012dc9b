"""The help that the product serves at `/help/`: the Markdown files of this folder and tables made from the registries."""
