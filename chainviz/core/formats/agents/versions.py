"""The versions of agents whose sessions are the models of those that chainviz writes.

The tests of tests/agents run these versions. To renew one, change it here and run `make test-agents`: a session that was handed off
or fixed must still resume. That of Claude Code is from its real sessions, since no test can run it.
"""

CLAUDE_CODE = "2.0.14"
CODEX = "0.171.0"
GEMINI_CLI = "0.61.0"
KILO = "7.7.9"
KIMI_CODE = "2.1.0"
OPENCODE = "1.18.33"
PI = "0.73.1"
QWEN_CODE = "0.24.4"
