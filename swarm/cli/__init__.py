"""`swarm train | sft | eval` on the terminal."""
