"""A library that is installed badly is not a bug of this program."""

import importlib
from pathlib import Path

import pytest

from swarm.disk.faults import of_installation


def raised(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> BaseException:
    place = folder / "site-packages"
    package = place / "brokenlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(str(place))
    with pytest.raises((ImportError, OSError, RuntimeError)) as caught:
        importlib.import_module("brokenlib")
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "from json import no_such_name",
        "import ctypes\nctypes.CDLL('libnosuch.so.7')",
        "try:\n    import nosuch\nexcept ImportError as e:\n    raise RuntimeError(1) from e",
    ],
)
def test_it_is_named(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = of_installation(raised(monkeypatch, tmp_path, text))
    assert said is not None
    assert (said["field"], said["next_step"]) == ("brokenlib", "install brokenlib anew")


def test_other_errors_stay_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_installation(raised(monkeypatch, tmp_path, "raise RuntimeError('x')")) is None
    with pytest.raises(ModuleNotFoundError) as own:
        importlib.import_module("swarm.no_such_part")
    assert of_installation(own.value) is None
