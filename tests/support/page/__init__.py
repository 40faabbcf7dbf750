"""A server and scenes for tests of the page."""
