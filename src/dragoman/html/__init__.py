"""HTML that cannot be broken out of, for exported files and for the page."""
