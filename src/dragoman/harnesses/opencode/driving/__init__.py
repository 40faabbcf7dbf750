"""Driving ``opencode serve``."""
