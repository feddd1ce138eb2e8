"""Wall seconds that a study may use, over all the processes that drive it."""

import time
from collections.abc import Callable

from autoresearch.study import plan
from autoresearch.study.endings import BudgetExhausted
from autoresearch.study.ledger import Ledger

SAVE_EVERY = 5.0


class Budget:
    """Counts from its creation; what earlier processes spent is read from the ledger.

    The ledger is written at most every `SAVE_EVERY` seconds, which is what a crash can lose.
    """

    def __init__(
        self,
        ledger: Ledger,
        study: str,
        limits: plan.Budget,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self._ledger = ledger
        self._study = study
        self._clock = clock
        self._before = ledger.spent(study)
        self._saved = clock()

    def spent(self) -> float:
        """Wall seconds used so far, by this process and those before it."""
        return self._before + self._clock() - self._saved

    def remaining(self) -> float:
        """Wall seconds left; never below zero."""
        return max(0.0, self.limits.seconds - self.spent())

    def check(self) -> None:
        """Save what was spent now and then. Raises BudgetExhausted when nothing is left."""
        if self._clock() - self._saved >= SAVE_EVERY or not self.remaining():
            self.save()
        if not self.remaining():
            raise BudgetExhausted(self.spent(), self.limits.seconds)

    def save(self) -> None:
        """Write what was spent to the ledger. Call once more when the process is done."""
        now = self._clock()
        self._ledger.spend(self._study, now - self._saved)
        self._before += now - self._saved
        self._saved = now
