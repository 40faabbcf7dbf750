"""The live store: every line and every message of live sessions."""
