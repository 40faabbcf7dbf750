"""The web front door: an HTTP API, streams of events, and the page. Listens on loopback unless told."""
