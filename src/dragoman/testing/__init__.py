"""Help for testing what is built on Dragoman, and Dragoman itself."""
