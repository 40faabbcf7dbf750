"""What a harness offers the rest of Dragoman: reading, driving, history, playback, care."""
