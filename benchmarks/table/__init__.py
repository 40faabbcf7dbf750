"""The table of performance targets: ``make bench`` measures every row of it (``python -m table``)."""
