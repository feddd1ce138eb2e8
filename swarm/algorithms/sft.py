"""SFT: supervised fine-tuning on the task's demonstrations.

    loss  = -(1/N) sum over the N answer tokens of log pi(t)

A batch is `batch.rollouts` demonstrations of training prompts, end-of-sequence token included;
nothing is sampled but for the evaluation. Prompt tokens condition and are never trained; the
token mean is over the whole optimizer batch, so that no padding or micro-batch changes a token's
weight. Rows run through the same trees, kernel and optimizer as rollouts, at temperature 1.
"""

PRESET = {
    "objective": "likelihood",
    "baseline": "none",
    "scale": "none",
    "aggregation": "token_mean",
    "clip_low": None,
    "clip_high": None,
    "kl_coef": 0.0,
}
