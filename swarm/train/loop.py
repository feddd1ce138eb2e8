"""Run one `TrainConfig` in a folder that this process owns, from its start or from its last
checkpoint. `swarm.train.run` has the batches.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from swarm.config.train import TrainConfig
from swarm.disk.folder import CONFIG, RunResult
from swarm.disk.ownership import owned
from swarm.errors import OF_THE_DISK, WriteFailed
from swarm.policy.saved_weights import start_digest
from swarm.train.eval_sets import load_sets, load_training, with_digests
from swarm.train.raised import OnAlarm
from swarm.train.resume import begin
from swarm.train.run import OnStep, Run


def train(
    config: TrainConfig,
    folder: Path,
    *,
    resume_from: Path | None = None,
    checkpoints: str | None = None,
    restart: str = "",
    on_begin: Callable[[], None] | None = None,
    on_step: OnStep | None = None,
    on_alarm: OnAlarm | None = None,
    tell: Callable[[str], None] = lambda line: None,
    stop: Callable[[], str | None] = lambda: None,
) -> RunResult:
    """Train into `folder` (see `swarm.disk.folder`), which this process owns meanwhile, seal it,
    and say how it ended.

    With `resume_from`, the folder of an earlier attempt at the same config or at one of fewer steps
    (`swarm.config.extension`; it may be `folder` itself), the records up to its newest valid
    checkpoint are taken over and training goes on from there; where it had not written one yet, it
    starts afresh. `restart` is the reason to start over whatever checkpoints there are.
    `checkpoints` is a path or URL to keep them at (`swarm.disk.storage`), by default where `folder`
    has them.

    `on_begin` is called before the model loads, `tell` with a line on what is adapted, `on_alarm`
    once for each kind of thing that looks wrong (`swarm.train.alarms`), which is among the run's
    events too. `stop` is asked after every step: where it names a signal, the run is saved.

    A non-finite loss or gradient ends the run as `diverged`, its batch saved. Raises Interrupted
    after a signal; Refusal when the config cannot be run, when it does not continue that of
    `resume_from`, when `checkpoints` are those of another run, when `folder` holds a run that is
    not resumed, when another process writes it (BadFolder), and when none of the checkpoints that
    were written loads (CheckpointsLost); RewardFailed when the user's reward fails; WriteFailed
    when the disk or the storage fails.
    """
    task = load_training(config)
    sets = load_sets(config, task)
    config = with_digests(config, sets).with_values(
        {"task.digest": task.digest, "policy.start_digest": start_digest(config.policy)}
    )
    folder = folder.absolute()  # the user's code may change the working folder
    with owned(folder) as ownership:
        beginning = begin(config, folder, resume_from, checkpoints, restart)
        said = tuple(("data", {"text": note}) for note in task.notes)
        beginning = replace(beginning, events=(*said, *beginning.events))
        if on_begin is not None:
            on_begin()
        run = Run(config, task, sets, ownership, beginning, on_step, on_alarm)
        if run.policy.pairs:
            tell(f"adapters on {run.base.host.coverage(config.policy.targets)}")
        try:
            return run.to_its_end(stop)
        except OSError as error:
            if error.errno not in OF_THE_DISK:
                raise
            begun = (folder / CONFIG).exists()
            again = "go on with --resume: what was saved is kept" if begun else "start again"
            next_step = f"make room or rights there, then {again}"
            raise WriteFailed(error.filename or folder, error, next_step) from error
