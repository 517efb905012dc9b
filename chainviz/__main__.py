"""`python -m chainviz` is the same as `chainviz`."""

from __future__ import annotations

from chainviz.cli import main

raise SystemExit(main())
