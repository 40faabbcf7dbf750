"""Processes, pipes, sockets, deadlines: what drives an agent. It knows no harness by name."""

import logging

# Without a handler of the application's, nothing of ours is printed: what a person must know is an
# error or a notice, and would be shown twice.
logging.getLogger("dragoman").addHandler(logging.NullHandler())
