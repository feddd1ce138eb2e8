"""From a topic to a plan, and from a plan to a finished study."""
