"""Checking and repairing session files that are logs of JSON lines with a header, which several harnesses keep."""
