"""A harness from another package: a small agent, and how to install it for a test."""
