"""vLLM is a rival only where it is installed."""

from pathlib import Path

import pytest

from benchmarks import vllm_server


def test_without_an_environment_there_is_no_vllm_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vllm_server, "PYTHON", tmp_path / "bin" / "python")
    assert not vllm_server.installed()
