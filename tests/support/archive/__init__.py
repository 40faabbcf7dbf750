"""Homes with saved sessions for tests, sound and damaged."""
