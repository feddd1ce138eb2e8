"""What runs leave on disk: folders and their seals, sets of files anywhere, trees, log files."""
