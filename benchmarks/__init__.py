"""Measurements against other trainers. `python -m benchmarks.<name> [--quick]` runs one."""
