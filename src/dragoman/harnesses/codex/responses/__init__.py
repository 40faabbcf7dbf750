"""Response items and streams of the Responses API."""
