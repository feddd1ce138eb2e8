"""Reports: rendered from claims, checked against run folders, compared with one another."""

from autoresearch.report.build import build
from autoresearch.report.diff import Change, diff
from autoresearch.report.verify import verify

__all__ = ["Change", "build", "diff", "verify"]
