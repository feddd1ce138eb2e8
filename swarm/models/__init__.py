"""Where a base model comes from."""
