"""Approval requests at the terminal: the facts to show, and the steps of an answer."""
