"""The shared part of all providers: rules as values, findings, and the check of a chain.

In reading order: `contract` (a provider as a value), `rules`, `findings` (problems in the contents of messages), `rule_choices` (rules
that depend on more than a finding), `request` (what is sent beside the messages), `wire` (the JSON that would be sent),
`server_blocks`, `check` (the whole chain and its verdict). The rules of an API are in its folder in `formats/vendors`.
"""
