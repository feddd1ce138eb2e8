"""One training run: its loop, where it begins, what it measures, and what it depends on."""
