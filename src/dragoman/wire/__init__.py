"""Bytes to lines, lines to JSON, and JSON-RPC. No I/O, no clock, no harness."""
