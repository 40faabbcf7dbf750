"""Tokens and money: what each file reports, merged so that nothing counts twice."""
