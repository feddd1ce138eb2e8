"""From token trees to an optimizer step. Nothing here knows an algorithm's name."""
