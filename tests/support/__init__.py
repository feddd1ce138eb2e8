"""What tests share: small models, plans, runs, and processes that they start."""
