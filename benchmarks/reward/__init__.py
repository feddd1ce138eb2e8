"""The sides of `benchmarks.time_to_reward`: one recipe, run by swarm and by TRL."""
