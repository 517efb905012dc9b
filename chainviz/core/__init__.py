"""The domain of chainviz: message chains as values. Knows no web, no database, no network and no clock."""
