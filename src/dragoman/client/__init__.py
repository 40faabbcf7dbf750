"""One agent from Python: connect, run, decide, and what is known about its program."""
