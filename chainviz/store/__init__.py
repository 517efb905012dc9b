"""Store chains: uploads, runs, snapshots, versions and drafts under an opaque history id. Knows no user, team or page."""
