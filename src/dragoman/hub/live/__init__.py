"""Live sessions as their messages make them, and the readers that follow them."""
