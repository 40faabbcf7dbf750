"""``dragoman chat``: the input loop and its sources of lines."""
