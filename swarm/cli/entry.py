"""Where `swarm` begins: Ctrl-C is one line from here on, while commands are imported too."""

from collections.abc import Callable


def main() -> None:
    """Run `swarm`."""
    begin(_swarm)


def begin(command: Callable[[], None]) -> None:
    """Import and run a command line. Ctrl-C that nothing else takes care of ends it with 130."""
    try:
        command()
    except KeyboardInterrupt:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the line is written, whatever comes now
        from swarm.cli.main import interrupted

        interrupted()


def _swarm() -> None:
    from swarm.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
