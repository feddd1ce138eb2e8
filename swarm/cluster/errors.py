"""What can go wrong with the machines. These are statuses of a run, never rewards."""


class InfrastructureError(Exception):
    """The machinery failed; the science is untouched and the study can be resumed."""


class RayUnreachable(InfrastructureError):
    """No Ray cluster answers at the address given."""

    def __init__(self, address: str, problem: str) -> None:
        self.field = f"--ray-address {address}"
        self.problem = problem
        self.next_step = (
            "start one with `ray start --head`, or leave the option out to use this machine"
        )
        super().__init__(f"{self.field}: {problem}; {self.next_step}")
        self.address = address


class ClusterLost(InfrastructureError):
    """A Ray cluster that was in use stopped answering."""
