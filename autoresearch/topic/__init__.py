"""From the words of a topic to what it asks: factors, levels, what is held fixed, a playbook."""
