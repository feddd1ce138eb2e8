"""A command line that imports a command's module when the command is called, not before."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group


class Entry(NamedTuple):
    """Where a command is, `.module:function` or `.module:app`, and its line in the group's help."""

    place: str
    summary: str


class LazyGroup(TyperGroup):
    """A group whose help is written from a table. Its subclass is the `cls` of an app that has a
    callback."""

    package: ClassVar[str | None]  #: that modules of `entries` are relative to
    entries: ClassVar[Mapping[str, Entry]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name, help=entry.summary) for name, entry in self.entries.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The real command in the place of the one that only knows its line of help."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and self.load(name), rest

    def load(self, name: str) -> Any:
        """Import a command or a group of commands."""
        module, _, attribute = self.entries[name].place.partition(":")
        found = getattr(import_module(module, self.package), attribute)
        app = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
        return get_group(app).commands[name]
