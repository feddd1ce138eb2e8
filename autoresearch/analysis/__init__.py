"""From run folders to scores, statistics, verdicts and claims."""
