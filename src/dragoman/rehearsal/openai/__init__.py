"""The OpenAI wire: the Responses API, as Codex speaks it."""
