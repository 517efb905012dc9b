"""The edition of the rules by which chains are judged."""

DIGESTS = {
    100: "cd482d0ce5ab66ac",
    101: "f676b12a51488d2c",
    102: "ae979fb496cb9c05",
    103: "ae979fb496cb9c05",
    104: "4a83df961a8a8d6c",
    105: "a0292b3f6e3e5f1a",
    106: "a0292b3f6e3e5f1a",
    107: "83b04e9154100957",
    108: "be56ca11089c96ba",
    109: "82d0aab531cbc7bd",
    110: "b0e630c1c036d663",
    111: "1af03ec7fb1db0d6",
    112: "db767986a49f6ba3",
    113: "db767986a49f6ba3",
    114: "95c10878ae29fba5",
    115: "72f0beedba80c076",
}
"""Editions with the digest of their rules. Add one when a rule, the code that judges, or the form of a stored outline changes: stored
chains are then judged again. Earlier versions used 1 to 8 and numbers above 1,000. `tests/store/test_rules_edition.py` fails with the
line to add."""

RULES_EDITION = max(DIGESTS)
