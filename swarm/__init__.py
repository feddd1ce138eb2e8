"""swarm: train language-model agents from token trees."""
