"""The command line. One file per command group; heavy imports wait until a command runs."""
