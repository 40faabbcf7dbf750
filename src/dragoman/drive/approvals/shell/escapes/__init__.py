"""Words by which an allowed program does something that its name does not cover."""
