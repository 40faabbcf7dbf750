"""The page: what people see in a browser. Values in, HTML out; no server, no clock, no store."""
