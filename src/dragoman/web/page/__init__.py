"""The page in the browser. Plain values in, HTML out; without server, clock or store."""
