"""Alarms over the metrics of running trials."""
