"""The inbox: who gets a notice of what, its page, and the e-mail, which holds no text of a chain.

Read notices, mail, page, view in this order.
"""
