"""Keeps the chatter of libraries off the user's screen."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def routed_to(file: Path, *loggers: str) -> Iterator[None]:
    """Within the block, what these loggers say goes to `file` and nowhere else."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    before = []
    for name in loggers:
        logger = logging.getLogger(name)
        before.append((logger, logger.handlers, logger.propagate))
        logger.handlers, logger.propagate = [handler], False
    try:
        yield
    finally:
        for logger, handlers, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate
        handler.close()
