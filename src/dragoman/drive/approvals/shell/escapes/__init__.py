"""Find the arguments by which an allowed program does more than its name suggests."""
