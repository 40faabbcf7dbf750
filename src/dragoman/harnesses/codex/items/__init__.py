"""Thread items: what a turn consists of, in every spelling."""
