"""For tests of Codex: conversations, documented lines, items."""
