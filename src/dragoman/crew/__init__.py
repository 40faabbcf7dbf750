"""The office of those who put agents to work: it joins the engine room with the harnesses."""
