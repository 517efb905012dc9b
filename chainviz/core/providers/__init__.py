"""The shared part of all providers: rules as values, findings, and the check of a chain.

Read in this order: `contract` (a provider as a value), `rule`, `findings` (problems in the contents of messages),
`section_rules`,
`wire` (the JSON that would be sent), `check` (the whole chain) and `verdict`. The rules of an API are in its folder in
`formats/vendors`.
"""
