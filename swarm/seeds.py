"""Seeds as hashes of what they belong to, so that no order of work can change a draw."""

import hashlib

import numpy as np


def derive(*parts: int | str) -> int:
    """A 63-bit seed from its parts, e.g. (run seed, "rollout", step, prompt, member, turn)."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


def generator(*parts: int | str) -> np.random.Generator:
    """A numpy generator seeded by `derive(*parts)`."""
    return np.random.Generator(np.random.Philox(derive(*parts)))
