"""The engine room: processes, pipes, sockets, deadlines. It knows no harness by name."""
