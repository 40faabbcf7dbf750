"""Reports that commands print: audits, usage, drift, checks of sessions."""
