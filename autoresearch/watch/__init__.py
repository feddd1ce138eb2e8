"""What a study does about what the metrics of its trials show."""
