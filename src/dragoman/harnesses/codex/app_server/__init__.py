"""Reading traffic with ``codex app-server``, in every version of its protocol."""
