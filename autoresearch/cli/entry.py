"""Where `autoresearch` begins: Ctrl-C is one line from here on, while it is imported too."""

from swarm.cli.entry import begin


def main() -> None:
    """Run `autoresearch`."""
    begin(_autoresearch)


def _autoresearch() -> None:
    from autoresearch.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
