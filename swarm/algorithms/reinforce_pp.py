"""REINFORCE++ (Hu 2025, arXiv:2501.03262).

    R_t   = r - beta sum over t' >= t of log pi(t')/ref(t')      (no discount, never reset)
    A_t   = (R_t - mean) / std, both over all tokens of the *batch*
    loss  = -(1/N) sum over the N trained tokens of min(rho A, clip(rho, 0.8, 1.2) A)

PPO without a critic: per-token k1 penalties, the task's reward on the last token, the return to
go whitened over the batch instead of a group baseline; beta = 0.01. With beta = 0 a token's return
is its episode's reward, and mean and std are still those of all tokens.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "baseline": "batch",
    "scale": "batch_std",
    "returns": "token",
    "kl_coef": 0.01,
    "kl_placement": "reward",
}
