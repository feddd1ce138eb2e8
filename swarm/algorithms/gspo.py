"""GSPO: group sequence policy optimization (Zheng et al. 2025, arXiv:2507.18071).

    A_i   = (r_i - m_g) / s_g
    s_i   = exp( (1/|y_i|) sum_t log pi(t)/pi_old(t) )
    loss  = -mean over sequences of min(s A, clip(s, 1 - 3e-4, 1 + 4e-4) A)

The ratio is the sequence's geometric mean, clipped as a whole; its range is two orders narrower
than a token's (3e-4 and 4e-4, section 5.1). Coded in the paper's GSPO-token form: the value is
s_i, the gradient s_i grad log pi(t), which is the same gradient where A is constant over a
sequence. A sequence is one branch of a token tree; a tree that shares a trained token between
branches is refused. No KL. pi_old is the trainer's own policy at the start of the batch: against
the sampler, whose rounding differs, a range this narrow would clip before any update. So with one
update a batch every ratio is 1 and nothing clips; the paper takes four minibatches. What lies
between pi_old and the sampler is left to `correction`.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "scale": "group_std",
    "aggregation": "sequence_mean",
    "ratio": "sequence",
    "anchor": "batch_start",
    "clip_low": 3e-4,
    "clip_high": 4e-4,
}
