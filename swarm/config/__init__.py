"""`TrainConfig` and its parts: the one contract between what plans a run and what trains it."""
