"""Why a base model cannot be had."""


class ModelUnavailable(ValueError):
    """A ref (`model.ref`) that leads to no model; the message says what to do next."""

    field = "model.ref"

    def __init__(self, problem: str, next_step: str) -> None:
        super().__init__(problem, next_step)
        self.problem = problem
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.next_step}"


class DeviceMissing(ValueError):
    """This machine has no such device, or torch was built without it."""

    field = "device"
    problem = "cuda is not there: torch finds no CUDA device"
    next_step = "take auto or cpu, or install a torch built for CUDA"

    def __init__(self) -> None:
        super().__init__(f"{self.field}: {self.problem}; {self.next_step}")


class FetchFailed(Exception):
    """A model's package did not arrive, or is not the one that is expected. Nothing was kept."""
