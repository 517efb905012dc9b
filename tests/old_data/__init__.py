"""Data folders written at commit 29970b1 and migrated at commit 37cbf70, and the test that the product still opens them.

test_old_data.py restores an archive (data_folder.py), migrates it, reads it through the product (reading.py) and compares
what it finds with `expected.json`. make.py and story.py made these files once; they are kept as the record of what is inside.
"""
