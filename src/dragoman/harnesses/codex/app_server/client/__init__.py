"""Driving ``codex app-server``: the conversation, its requests and its answers."""
