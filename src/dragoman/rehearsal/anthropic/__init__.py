"""The Anthropic wire: the Messages API, as Claude Code speaks it."""
