"""What a person at the terminal is asked: what it is about, and the steps of an answer."""
