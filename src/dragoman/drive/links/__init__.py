"""Connections to an agent other than a local process: sockets, WebSocket, ssh."""
