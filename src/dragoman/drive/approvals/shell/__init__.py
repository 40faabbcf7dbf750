"""What a command line might run, for rules that forbid: rather a command too many than one too few."""
