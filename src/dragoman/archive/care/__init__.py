"""Checking and repairing saved sessions."""
