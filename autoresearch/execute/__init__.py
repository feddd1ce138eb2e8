"""Running the trials that a plan asks for: launch, adopt, retry, reconcile."""
