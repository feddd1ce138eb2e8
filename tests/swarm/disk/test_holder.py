"""Whether the process that holds a thing still lives."""

import os
from dataclasses import replace

import pytest

from swarm.disk import holder
from swarm.disk.holder import Holder


def test_a_holder_knows_its_own_process() -> None:
    me = Holder.current()
    assert me.pid == os.getpid()
    assert me.started.isdigit()


def test_a_reused_pid_and_a_reboot_are_seen() -> None:
    me = Holder.current()
    assert not me.is_dead(me)
    assert replace(me, started="1").is_dead(me)
    assert replace(me, boot="before").is_dead(me)
    assert not replace(me, boot="before", host="elsewhere").is_dead(me)
    assert not replace(me, space="another container", pid=1, started="1").is_dead(me)


class TestWithoutProc:
    """Of a system without /proc: neither boot id nor start time is known."""

    def here(self, pid: int) -> Holder:
        return replace(Holder.current(), boot="", space="", pid=pid, started="")

    def test_who_cannot_be_looked_up_is_left_to_its_heartbeat(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A container beside this one, and another host of the same name."""
        gone = self.here(2**22)
        assert gone.is_dead(self.here(os.getpid()))
        assert not replace(gone, space="another container").is_dead(self.here(os.getpid()))
        monkeypatch.setattr(holder, "_boot", str)
        monkeypatch.setattr(holder.uuid, "getnode", iter([1, 2]).__next__)
        there, me = Holder.current(), Holder.current()
        assert not replace(there, pid=2**22).is_dead(me)

    def test_a_row_with_a_boot_id_is_left_to_its_heartbeat(self) -> None:
        assert not replace(Holder.current(), pid=2**22).is_dead(self.here(os.getpid()))
        assert not self.here(2**22).is_dead(Holder.current())
