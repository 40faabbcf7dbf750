"""The only room that speaks SQL: the index of saved sessions, and what is counted from them."""
