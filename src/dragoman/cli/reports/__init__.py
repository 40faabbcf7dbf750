"""What commands print: audits, usage, drift, checks."""
