"""Run from a checkout: `python cli.py start "topic"` is the installed `autoresearch`."""

from autoresearch.cli.entry import main

if __name__ == "__main__":
    main()
