"""What libraries say goes to a file, for a while."""

import logging
from pathlib import Path

import pytest

from swarm.disk.logfile import routed_to


def test_it_goes_to_the_file_and_nowhere_else(tmp_path: Path, capfd) -> None:
    file = tmp_path / "new" / "noise.log"
    with routed_to(file, "a.library"):
        logging.getLogger("a.library").warning("a word")
        logging.getLogger("a.library.part").error("another")
        logging.getLogger("others").error("not this one")
    text = file.read_text()
    assert "a.library WARNING a word" in text
    assert "a.library.part ERROR another" in text
    assert "not this one" not in text
    assert "a word" not in "".join(capfd.readouterr())


def test_loggers_are_as_before_even_after_an_error(tmp_path: Path) -> None:
    logger, handler = logging.getLogger("b.library"), logging.NullHandler()
    logger.handlers, logger.propagate = [handler], True
    with pytest.raises(RuntimeError), routed_to(tmp_path / "noise.log", "b.library"):
        raise RuntimeError
    assert (logger.handlers, logger.propagate) == ([handler], True)


def test_a_file_is_written_on(tmp_path: Path) -> None:
    for word in ("first", "second"):
        with routed_to(tmp_path / "noise.log", "c.library"):
            logging.getLogger("c.library").warning(word)
    assert [line.rsplit()[-1] for line in (tmp_path / "noise.log").read_text().splitlines()] == [
        "first",
        "second",
    ]
