"""Hand a saved session off to another agent: its conversation becomes a native session there."""
