"""Tools for testing Dragoman, and what is built on it."""
