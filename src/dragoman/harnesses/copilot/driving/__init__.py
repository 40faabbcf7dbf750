"""Driving ``copilot --headless --stdio``."""
