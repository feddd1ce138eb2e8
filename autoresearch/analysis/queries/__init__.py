"""The queries that claims are computed by, and recomputed by when a report is verified."""
