"""What is wrong with a task: its files, or the functions in them."""


class BadTask(ValueError):
    """A task that cannot be used as it is; the message says what to do next."""

    field = "task.ref"

    def __init__(self, problem: str, next_step: str, field: str = "task.ref") -> None:
        super().__init__(problem, next_step, field)
        self.problem = problem
        self.next_step = next_step
        self.field = field

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.next_step}"


class RewardFailed(Exception):
    """A user's function raised, or returned what is no score. It ends the run: a defect of the
    reward must never be trained on as if it were a reward."""

    def __init__(self, function: str, problem: str, row: int) -> None:
        super().__init__(function, problem, row)
        self.function = function
        self.problem = problem
        self.row = row

    def __str__(self) -> str:
        return f"{self.function} {self.problem} on row {self.row}"
