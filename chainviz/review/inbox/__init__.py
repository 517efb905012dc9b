"""The inbox: who is told what, the page of it, and the e-mail that says no more than that there is something.

Read notices, mail, page, view in this order.
"""
