"""What tests share: agents, homes, pages, terminals, corpora."""
