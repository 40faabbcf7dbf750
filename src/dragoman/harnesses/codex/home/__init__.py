"""What Codex keeps in its home: sessions, profiles, sign-in, remembered rules, trust."""
