"""Single marks: what differs from its surroundings, how strongly, and which of them to trust."""
