"""Reports: rendered from claims, checked against run folders, compared with one another."""
