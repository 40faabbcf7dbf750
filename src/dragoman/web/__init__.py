"""The web interface: an HTTP API, event streams and the page. Listens on loopback by default."""
