"""Ray, as far as trials need it: start or join, submit, adopt, wait, cancel.

On this machine Ray is started for the study and dies with its driver, trials included. On a
standing cluster each trial is a detached named actor that outlives its driver; the next driver
adopts it by name. All nodes must see the same file system at the same paths, with this package
installed: attempts report through their folders. When Ray's control service (GCS) dies, Ray ends
the driver within a minute; the study is then resumed as after any other death of its driver.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from swarm.cluster.actor import TRAIN, Job, Outcome, TrialActor, one_line
from swarm.cluster.reach import check_reachable
from swarm.disk.logfile import routed_to
from swarm.errors import ClusterLost, InfrastructureError, RayUnreachable

OBJECT_STORE_BYTES = 100 * 2**20  # trials exchange files; the least that Ray accepts is 75 MB


@dataclass(frozen=True)
class Ended:
    """An attempt that no longer runs. `lost`: its process died without saying how it went; `final`:
    no other attempt can do better (see `Outcome`)."""

    trial: str
    attempt: int
    status: Literal["finished", "diverged", "failed", "lost"]
    cause: str = ""
    final: bool = False


class Cluster:
    """Runs attempts as Ray actors with one CPU each. A context manager; use from one thread."""

    def __init__(self, namespace: str, *, standing: bool, entry: str, leave: ExitStack) -> None:
        """See `Cluster.start`."""
        self._namespace = namespace
        self._standing = standing
        self._entry = entry
        self._leave = leave
        self._running: dict[tuple[str, int], _Running] = {}

    @classmethod
    def start(
        cls, address: str | None, log_folder: Path, cpus: int | None, *, entry: str = TRAIN
    ) -> "Cluster":
        """Start Ray on this machine, or join the cluster at `auto` or `host:port`.

        `cpus` bounds a local Ray (None: all cores). `log_folder/study.log` takes what Ray says;
        the folder also names the namespace in which actors are found again. `entry` is what an
        attempt runs, called like `swarm.train.loop.train`. Raises RayUnreachable within 20 s, and
        InfrastructureError when a local Ray does not start.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is not None:
            check_reachable(address)
        namespace = f"autoresearch-{sha256(str(log_folder.resolve()).encode()).hexdigest()[:8]}"
        with ExitStack() as leave:
            leave.enter_context(_quiet(log_folder / "study.log"))
            if address is None:
                _start_local(leave.enter_context(_short_folder(namespace)), namespace, cpus)
            else:
                _join(address, namespace)
            leave.callback(_shutdown)
            kept = leave.pop_all()
        return cls(namespace, standing=address is not None, entry=entry, leave=kept)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave Ray. A local Ray ends with all its trials; on a standing cluster they go on."""
        self._running.clear()
        self._leave.close()

    def capacity(self, device: str = "cpu") -> int:
        """How many attempts on `device` (as in TrainConfig) can run now, the running included.

        Each takes one CPU, and one GPU if its device is `cuda`, or `auto` where there are any.
        Raises ClusterLost when the local Ray has died, InfrastructureError when this machine
        has no GPU and the attempts need one.
        """
        import ray

        if self._standing:  # others may use it too, and nodes may join
            return len(self._running) + _slots(ray.available_resources(), device)
        resources = ray.cluster_resources()
        if not resources.get("CPU"):
            raise ClusterLost("Ray on this machine has died; resume the study")
        slots = _slots(resources, device)
        if not slots:
            raise InfrastructureError(f"device {device!r}: Ray finds no GPU on this machine")
        return slots

    def submit(
        self,
        trial: str,
        attempt: int,
        config: Mapping[str, Any],
        folder: Path,
        resume_from: Path | None,
    ) -> None:
        """Start an attempt; returns at once. `config` is a TrainConfig as plain JSON."""
        import ray

        job = Job(trial, attempt, config, folder.resolve(), resume_from, self._entry)
        options: dict[str, Any] = {
            "num_cpus": 1,
            "num_gpus": _gpus(config.get("device", "cpu")),
            "max_restarts": 0,
        }
        if self._standing:
            options |= {
                "name": _name(trial, attempt),
                "namespace": self._namespace,
                "lifetime": "detached",
            }
        self._track(trial, attempt, ray.remote(TrialActor).options(**options).remote(job))

    def adopt(self, trial: str, attempt: int) -> bool:
        """Wait from now on for an attempt that an earlier driver submitted, if it still runs."""
        actor = self._find(trial, attempt)
        if actor is not None:
            self._track(trial, attempt, actor)
        return actor is not None

    def poll(self, timeout: float) -> list[Ended]:
        """The attempts that ended, waiting up to `timeout` seconds for the first."""
        import ray

        if not self._running:
            time.sleep(timeout)
            return []
        keys = {running.outcome: key for key, running in self._running.items()}
        ready, _ = ray.wait(list(keys), num_returns=1, timeout=timeout)
        if ready:
            ready, _ = ray.wait(list(keys), num_returns=len(keys), timeout=0)
        return [self._collect(*keys[outcome]) for outcome in ready]

    def cancel(self, trial: str, attempt: int) -> None:
        """Kill an attempt, running or done, whoever submitted it; it is not reported as ended."""
        import ray

        running = self._running.pop((trial, attempt), None)
        actor = running.actor if running is not None else self._find(trial, attempt)
        if actor is not None:
            ray.kill(actor)

    def _track(self, trial: str, attempt: int, actor: Any) -> None:
        self._running[trial, attempt] = _Running(actor, actor.run.remote())

    def _find(self, trial: str, attempt: int) -> Any | None:
        import ray

        if not self._standing:
            return None
        try:
            return ray.get_actor(_name(trial, attempt), self._namespace)
        except ValueError:
            return None

    def _collect(self, trial: str, attempt: int) -> Ended:
        import ray

        running = self._running[trial, attempt]
        try:
            outcome: Outcome = ray.get(running.outcome)
        except ray.exceptions.RayTaskError as error:  # the actor's own code, not the entry
            ended = Ended(trial, attempt, "failed", one_line(str(error.cause)))
        except ray.exceptions.RayError as error:
            ended = Ended(trial, attempt, "lost", _death(error))
        else:
            ended = Ended(trial, attempt, outcome.status, outcome.cause, outcome.final)
        self.cancel(trial, attempt)  # a detached actor would keep its CPU
        return ended


@dataclass(frozen=True)
class _Running:
    """Handles of Ray: the actor, and the promise of its outcome."""

    actor: Any
    outcome: Any


def _slots(resources: Mapping[str, float], device: str) -> int:
    cpus, gpus = resources.get("CPU", 0), resources.get("GPU", 0)
    return int(min(cpus, gpus) if _gpus(device) else cpus)


def _gpus(device: str) -> int:
    """GPUs that an attempt takes. Ray hides all others from its process."""
    import ray

    wanted = device == "cuda" or (device == "auto" and ray.cluster_resources().get("GPU", 0) >= 1)
    return int(wanted)


def _name(trial: str, attempt: int) -> str:
    return f"{trial}-{attempt}"


def _start_local(temp: Path, namespace: str, cpus: int | None) -> None:
    import ray

    try:
        ray.init(
            address="local",
            namespace=namespace,
            num_cpus=cpus,
            object_store_memory=OBJECT_STORE_BYTES,
            include_dashboard=False,
            log_to_driver=False,
            _temp_dir=str(temp),
        )
    except Exception as error:
        raise InfrastructureError(f"Ray did not start: {one_line(str(error))}") from error


def _join(address: str, namespace: str) -> None:
    import ray

    try:
        ray.init(address=address, namespace=namespace, log_to_driver=False)
    except (ConnectionError, RuntimeError) as error:
        raise RayUnreachable(address, one_line(str(error))) from error


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Keep Ray off the driver's stdout and stderr."""
    import ray._private.worker as driver

    # Deaths of workers are printed on stdout by a thread, whatever `log_to_driver` says.
    printed = driver.print_to_stdstream
    driver.print_to_stdstream = lambda data, ignore_prefix: driver.logger.warning(
        "\n".join(data["lines"])
    )
    try:
        with routed_to(log, "ray"):
            yield
    finally:
        driver.print_to_stdstream = printed


def _shutdown() -> None:
    import ray

    ray.shutdown()


@contextmanager
def _short_folder(name: str) -> Iterator[Path]:
    """Where a local Ray keeps its sockets, whose paths may have 107 bytes at most.

    Kept after an error, for its logs; emptied when the same study starts Ray again.
    """
    base = Path(tempfile.gettempdir())
    folder = (base if len(str(base)) <= 20 else Path("/tmp")) / f"{name}-{os.getuid()}"
    shutil.rmtree(folder, ignore_errors=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _death(error: Exception) -> str:
    """What Ray knows of a worker's end, in one line without its advice."""
    detail = str(error).rpartition("Worker exit detail:")[2]
    return f"the worker died: {one_line(detail.partition(' Some common causes')[0])}"
