"""Ray, as far as jobs need it: start or join, submit, adopt, wait, cancel.

A Ray on this machine ends with its driver, and its jobs with it. On a standing cluster each job is
a detached actor, named by whoever submits it; it outlives its driver, and the next driver adopts it
by name. All nodes must see the same file system at the same paths, with this package installed:
jobs report through their folders. When Ray's control service (GCS) dies, Ray ends the driver within
a minute.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from swarm.cluster.actor import TRAIN, Job, Outcome, RunActor, one_line
from swarm.cluster.reach import check_reachable
from swarm.disk.logfile import routed_to
from swarm.errors import ClusterLost, InfrastructureError, RayUnreachable

OBJECT_STORE_BYTES = 100 * 2**20  # jobs exchange files; the least that Ray accepts is 75 MB


class Cluster:
    """Runs jobs as Ray actors with one CPU each. A context manager; use from one thread."""

    def __init__(self, namespace: str, *, standing: bool, entry: str, leave: ExitStack) -> None:
        """See `Cluster.start`."""
        self._namespace = namespace
        self._standing = standing
        self._entry = entry
        self._leave = leave
        self._actors: dict[str, Any] = {}
        self._outcomes: dict[str, Any] = {}  # Ray's promises of them

    @classmethod
    def start(
        cls, address: str | None, namespace: str, log: Path, cpus: int | None, entry: str = TRAIN
    ) -> "Cluster":
        """Start Ray on this machine, or join the cluster at `auto` or `host:port`.

        `namespace` is where a standing cluster finds the jobs of an earlier driver again. The file
        `log` takes what Ray says. `cpus` bounds a local Ray (None: all cores). `entry` is what a
        job runs, called like `swarm.train.loop.train`. Raises RayUnreachable within 20 s, and
        InfrastructureError when a local Ray does not start.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is not None:
            check_reachable(address)
        import ray

        with ExitStack() as leave:
            leave.enter_context(_quiet(log))
            if address is None:
                _start_local(leave.enter_context(_short_folder(namespace)), namespace, cpus)
            else:
                try:
                    ray.init(address=address, namespace=namespace, log_to_driver=False)
                except (ConnectionError, RuntimeError) as error:
                    raise RayUnreachable(address, one_line(str(error))) from error
            leave.callback(ray.shutdown)
            kept = leave.pop_all()
        return cls(namespace, standing=address is not None, entry=entry, leave=kept)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave Ray. A local Ray ends with all its jobs; on a standing cluster they go on."""
        self._actors.clear()
        self._outcomes.clear()
        self._leave.close()

    def capacity(self, device: str = "cpu") -> int:
        """How many jobs on `device` (as in TrainConfig) can run now, the running included.

        Each takes one CPU, and one GPU if its device is `cuda`, or `auto` where there are any.
        Raises ClusterLost when the local Ray has died, InfrastructureError when this machine
        has no GPU and the jobs need one.
        """
        import ray

        if self._standing:  # others may use it too, and nodes may join
            return len(self._actors) + _slots(ray.available_resources(), device)
        resources = ray.cluster_resources()
        if not resources.get("CPU"):
            raise ClusterLost("Ray on this machine has died; resume what ran on it")
        slots = _slots(resources, device)
        if not slots:
            raise InfrastructureError(f"device {device!r}: Ray finds no GPU on this machine")
        return slots

    def submit(
        self, name: str, config: Mapping[str, Any], folder: Path, resume_from: Path | None
    ) -> None:
        """Start a job of this name; returns at once. `config` is a TrainConfig as plain JSON."""
        import ray

        job = Job(config, folder.resolve(), resume_from, self._entry)
        options: dict[str, Any] = {
            "num_cpus": 1,
            "num_gpus": _gpus(config.get("device", "cpu")),
            "max_restarts": 0,
        }
        if self._standing:
            options |= {"name": name, "namespace": self._namespace, "lifetime": "detached"}
        self._track(name, ray.remote(RunActor).options(**options).remote(job))

    def adopt(self, name: str) -> bool:
        """Wait from now on for a job that an earlier driver submitted, if it still runs."""
        actor = self._find(name)
        if actor is not None:
            self._track(name, actor)
        return actor is not None

    def poll(self, timeout: float) -> list[tuple[str, Outcome]]:
        """The jobs that ended and how, waiting up to `timeout` seconds for the first."""
        import ray

        if not self._outcomes:
            time.sleep(timeout)
            return []
        names = {outcome: name for name, outcome in self._outcomes.items()}
        ready, _ = ray.wait(list(names), num_returns=1, timeout=timeout)
        if ready:
            ready, _ = ray.wait(list(names), num_returns=len(names), timeout=0)
        return [(names[outcome], self._collect(names[outcome])) for outcome in ready]

    def cancel(self, name: str) -> None:
        """Kill a job, running or done, whoever submitted it; it is not reported as ended."""
        import ray

        self._outcomes.pop(name, None)
        actor = self._actors.pop(name, None) or self._find(name)
        if actor is not None:
            ray.kill(actor)

    def _track(self, name: str, actor: Any) -> None:
        self._actors[name], self._outcomes[name] = actor, actor.run.remote()

    def _find(self, name: str) -> Any | None:
        import ray

        if not self._standing:
            return None
        try:
            return ray.get_actor(name, self._namespace)
        except ValueError:
            return None

    def _collect(self, name: str) -> Outcome:
        import ray

        try:
            outcome: Outcome = ray.get(self._outcomes[name])
        except ray.exceptions.RayTaskError as error:  # the actor's own code, not the entry
            outcome = Outcome("failed", one_line(str(error.cause)))
        except ray.exceptions.RayError as error:
            outcome = Outcome("lost", _death(error))
        self.cancel(name)  # a detached actor would keep its CPU
        return outcome


def _slots(resources: Mapping[str, float], device: str) -> int:
    cpus, gpus = resources.get("CPU", 0), resources.get("GPU", 0)
    return int(min(cpus, gpus) if _gpus(device) else cpus)


def _gpus(device: str) -> int:
    """GPUs that a job takes. Ray hides all others from its process."""
    import ray

    wanted = device == "cuda" or (device == "auto" and ray.cluster_resources().get("GPU", 0) >= 1)
    return int(wanted)


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


@contextmanager
def _short_folder(namespace: str) -> Iterator[Path]:
    """Where a local Ray keeps its sockets, whose paths may have 107 bytes at most. Kept after an
    error, for its logs; emptied when Ray starts in the same namespace again."""
    base = Path(tempfile.gettempdir())
    name = f"ray-{sha256(namespace.encode()).hexdigest()[:8]}-{os.getuid()}"
    folder = (base if len(str(base)) <= 20 else Path("/tmp")) / name
    shutil.rmtree(folder, ignore_errors=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _death(error: Exception) -> str:
    """What Ray knows of a worker's end, in one line without its advice."""
    detail = str(error).rpartition("Worker exit detail:")[2]
    return f"the worker died: {one_line(detail.partition(' Some common causes')[0])}"
