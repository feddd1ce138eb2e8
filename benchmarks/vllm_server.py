"""vLLM's server on this CPU, where `.venv-vllm` exists; this process only speaks HTTP to it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from benchmarks.samplers import MAX_TOKENS, MODEL, Dtype, Prompts
from swarm import models

PYTHON = Path(__file__).parents[1] / ".venv-vllm" / "bin" / "python"
START_S = 400


def installed() -> bool:
    """Whether a vLLM row can be measured here."""
    return PYTHON.exists()


class Vllm:
    """A server for `slots` rows, ended on leaving the context. Raises RuntimeError if it does not
    come up. The first start compiles, which takes minutes; later ones find the result cached."""

    def __init__(self, dtype: Dtype, slots: int) -> None:
        self.slots = slots
        self._log = tempfile.NamedTemporaryFile(suffix=".log")  # noqa: SIM115 - closed on exit
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        options = {
            "--model": str(models.ensure(MODEL)),
            "--served-model-name": MODEL,
            "--dtype": dtype,
            "--max-num-seqs": str(slots),
            "--max-model-len": "512",
            "--generation-config": "vllm",  # the model's own holds no sampling law
            "--host": "127.0.0.1",
            "--port": str(port),
        }
        self._process = subprocess.Popen(
            [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server"]
            + [word for option in options.items() for word in option],
            env=os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1"},
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return self
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(1)
        tail = Path(self._log.name).read_text(errors="replace")[-2000:]
        self._end()
        raise RuntimeError(f"vLLM's server did not come up:\n{tail}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end()

    def sample(self, prompts: Prompts, slots: int, seed: int) -> list[int]:
        """As `benchmarks.samplers.Sampler`; `slots` is fixed when the server starts."""
        if slots != self.slots:
            raise ValueError(f"this server has {self.slots} slots, not {slots}")
        reply = self._post(
            {
                "model": MODEL,
                "prompt": [list(prompt) for prompt in prompts],
                "max_tokens": MAX_TOKENS,
                "temperature": 1.0,
                "top_p": 1.0,
                "top_k": -1,
                "seed": seed,
                "return_token_ids": True,
            }
        )
        choices = sorted(reply["choices"], key=lambda choice: int(choice["index"]))
        return [len(choice["token_ids"]) for choice in choices]

    def usage(self) -> tuple[float, float]:
        """CPU seconds so far and resident MB of the server and its children."""
        server = psutil.Process(self._process.pid)
        seconds, resident = 0.0, 0
        for process in (server, *server.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # it may end in between
                times = process.cpu_times()
                seconds += times.user + times.system
                resident += process.memory_info().rss
        return seconds, resident / 2**20

    def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/v1/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=600) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def _end(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(8)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._log.close()
