"""A study's life: its stages, the trials of each, and how it ends."""
