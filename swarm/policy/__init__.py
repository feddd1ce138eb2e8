"""Policies: LoRA slots on a shared base or full weights, their snapshots and checkpoints."""
