"""PPO with a value head (Schulman et al. 2017, arXiv:1707.06347; for language models Stiennon et
al. 2020, arXiv:2009.01325).

    r_t   = -beta log pi(t)/ref(t), plus the task's reward on the last token
    d_t   = r_t + gamma V(t+1) - V(t),   A_t = d_t + gamma lambda A_(t+1)    (GAE, arXiv:1506.02438)
    A     whitened over all tokens of the batch
    loss  = -(1/N) sum over the N trained tokens of min(rho A, clip(rho, 0.8, 1.2) A)
    V's   = (1/N) sum of 1/2 max( (V - R)^2, (clip(V, V' - 0.2, V' + 0.2) - R)^2 ),  R = A + V'

V' is V at the start of the batch; gamma = 1, lambda = 0.95, beta = 0.05. V(t) is read from the
hidden state that predicts token t, by a head with parameters and moments of its own that sends no
gradient into the policy. The recursion runs over trained tokens; observations are skipped. Past
the last token V is 0, also where the budget ended the answer, for the budget belongs to the task;
`value.truncation: bootstrap` reads V there. The papers pass 3 to 10 times (Schulman), 4 times
(Stiennon) over a batch: `batch.epochs`.
"""

from swarm.algorithms import default

PRESET = {
    **default.PRESET,
    "baseline": "value",
    "scale": "batch_std",
    "returns": "token",
    "kl_coef": 0.05,
    "kl_placement": "reward",
    "value": {"gamma": 1.0, "lam": 0.95, "clip": 0.2},
}
