"""``dragoman chat``: the conversation and where its lines come from."""
