"""The inbox: the recipients of notices, its page, and the e-mail, which contains no text of a chain.

In reading order: `notices`, `page`.
"""
