"""autoresearch: from a topic to a preregistered, decided and verifiable study."""
