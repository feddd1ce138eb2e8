"""Runs side by side on Ray: the only package that touches it."""
