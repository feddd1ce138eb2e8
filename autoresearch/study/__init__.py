"""Studies: the plan, its preregistration, trials, and the ledger that keeps them."""
