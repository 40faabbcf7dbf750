"""Core events: the language that early releases streamed and rollouts still store."""
