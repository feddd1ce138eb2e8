"""Which seeds serve which phase.

A study with seed s owns the thousand from 1000 s on: pilot seeds from 1000 s, tuning seeds from
1000 s + 100, confirmation seeds from 1000 s + 200. So no seed serves two phases, two studies with
different seeds share none, asking for more seeds later never changes the earlier ones, and a
trial's seed tells its study and phase: 7203 is the fourth confirmation seed of study seed 7.
"""

from autoresearch.study.plan import Seeds
from swarm.errors import Refusal

BLOCK = 1000
STARTS = {"pilot": 0, "tuning": 100, "confirm": 200}
MOST = {"pilot": 100, "tuning": 100, "confirm": 800}
STUDIES = 2**31 // BLOCK
"""Study seeds beyond wrap around: a trial's seed stays below 2^31."""


def allot(seed: int, pilot: int, tuning: int, confirm: int) -> Seeds:
    """Disjoint seeds for each phase, `pilot`, `tuning` and `confirm` of them.

    Raises Refusal for a count below 0, for one above 100 (pilot, tuning) or 800 (confirm), and
    for no confirmation seed.
    """
    counts = {"pilot": pilot, "tuning": tuning, "confirm": confirm}
    for phase, count in counts.items():
        least = 1 if phase == "confirm" else 0
        if not least <= count <= MOST[phase]:
            raise Refusal(
                f"seeds.{phase}", f"{count} seeds", f"ask for {least} to {MOST[phase]} seeds"
            )
    base = BLOCK * (seed % STUDIES)
    blocks = {
        phase: tuple(range(base + STARTS[phase], base + STARTS[phase] + count))
        for phase, count in counts.items()
    }
    return Seeds(pilot=blocks["pilot"], tuning=blocks["tuning"], confirm=blocks["confirm"])
