"""Factors of the objective: clipping, divergence from the reference, entropy."""

from typing import get_args

from autoresearch.catalogue.factor import CatalogueFactor, Null, Requirement
from swarm.config.algorithm import REWEIGHTING, CorrectionKind
from swarm.config.train import TrainConfig


def _moves(config: TrainConfig) -> bool:
    """The policy moves while a batch is trained on, so that ratios leave 1."""
    return config.batch.updates > 1 or config.max_staleness > 0


def _bounded(config: TrainConfig) -> bool:
    return config.algorithm.clip_low is not None and config.algorithm.clip_high is not None


CLIP_BINDS = Requirement(
    "PB401",
    "the ratio is 1 at the first update on a batch, so with one update a clip range never binds",
    _moves,
    {"batch.epochs": 4},
)
CLIP_EXISTS = Requirement(
    "PB406",
    "this algorithm does not clip, so its ratio is unbounded",
    _bounded,
    {"algorithm.clip_low": 0.2, "algorithm.clip_high": 0.2},
)
STALE = Requirement(
    "PB410",
    "without stale rollouts sampler and learner agree, and there is nothing to correct",
    lambda config: config.max_staleness > 0,
    {"max_staleness": 4},
)
KL_ACTIVE = Requirement(
    "PB403",
    "with kl_coef 0 no KL enters the objective",
    lambda config: config.algorithm.kl_coef > 0,
    {"algorithm.kl_coef": 0.05},
)

FACTORS = (
    CatalogueFactor(
        name="clip_range",
        title="clip range",
        sets=("algorithm.clip_low", "algorithm.clip_high"),
        levels=(0.1, 0.2, 0.4),
        two=(0.2, 0.05),
        bounds=(1e-4, 1.0),
        aliases="""
            clip range, clip ratio, clip, clipping, clip epsilon, cliprange, epsilon,
            trust region, clip ranges, clip threshold, clipping threshold, clipping range, clip eps,
            clip bound, clipping epsilon, clip parameter, clip width, symmetric clip,
            symmetric clipping, eps clip
        """,
        everyday="epsilon, clip",
        symbols=("ppo clip",),
        yields_to=("clip_higher", "grad_clip"),
        expected="Smaller ranges are slower and steadier once ratios reach them.",
        source="arXiv:1707.06347, arXiv:2006.05990",
        null_when="one update per batch at staleness 0: every ratio is 1",
        traps=("A clip range never binds with one update per batch.",),
        requires=(CLIP_BINDS,),
        nulls=(Null({"batch.epochs": 1, "batch.minibatches": 1}, (0.2, 0.4)),),
        probe=(0.2, 0.01),
    ),
    CatalogueFactor(
        name="clip_higher",
        title="upper clip range",
        sets=("algorithm.clip_high",),
        levels=(0.2, 0.28, 0.4),
        bounds=(1e-4, 100.0),
        aliases="""
            clip higher, clip high, upper clip, upper clip range, upper clip bound, higher clip,
            higher clip range, raising the upper clip, decoupled clip, decoupled clipping,
            asymmetric clip, asymmetric clipping, epsilon high, eps high, clip upper, clip upper
            bound,
            upper bound of the clip, upper clipping, upper clipping bound, upper epsilon,
            higher upper clip, high clip, clip higher bound, clip ratio high, upper eps,
            asymmetric clip range, larger upper clip
        """,
        expected="Keeps entropy up, only with several updates per batch; small gain in accuracy.",
        source="arXiv:2503.14476, arXiv:2508.08221",
        null_when="one update per batch at staleness 0: every ratio is 1",
        traps=(
            "A clip range never binds with one update per batch.",
            "It acts on tokens with positive advantage alone; watch policy/clip_frac_high.",
        ),
        requires=(CLIP_EXISTS, CLIP_BINDS),
        nulls=(Null({"batch.epochs": 1, "batch.minibatches": 1}, (0.2, 0.4)),),
        probe=(0.2, 0.01),
    ),
    CatalogueFactor(
        name="kl_coef",
        title="KL coefficient",
        sets=("algorithm.kl_coef",),
        levels=(0.0, 0.01, 0.1),
        two=(0.0, 0.1),
        bounds=(0.0, 10.0),
        aliases="""
            kl, kl coefficient, kl coef, kl penalty, kl loss, kl term, kl weight, kl regularization,
            kl beta, beta, reference kl, reference model, kl to the reference, kl to reference,
            kl to the base model, kl anchor, kl constraint, kl control, kl strength,
            kl regularisation, reference penalty, penalty to the reference, kl divergence penalty
        """,
        words={
            0.0: """
                no kl, without kl, without a kl, drop the kl, dropping the kl, drop kl, kl free,
                no kl penalty, no kl term, without the kl, without a kl penalty, zero kl,
                no reference model, without a reference model
            """
        },
        symbols=("coef", "coefficient"),
        everyday="beta",
        yields_to=("kl_estimator", "kl_placement"),
        expected="On verifiable rewards a small coefficient changes nothing; a large one slows.",
        source="arXiv:2402.03300, arXiv:2503.20783, arXiv:2510.01555",
        null_when="never from the second update on: at the first one policy and reference agree",
        traps=(
            "A KL term costs a forward pass of the reference; compare by step and by wall-clock.",
        ),
    ),
    CatalogueFactor(
        name="kl_estimator",
        title="KL divergence that is penalised",
        sets=("algorithm.kl",),
        levels=("reverse", "forward"),
        aliases="""
            kl estimator, kl direction, k1 k2 k3, kl approximation, kl type, kl form, kl estimators
        """,
        words={
            "reverse": "reverse kl, k2, k2 loss, k2 estimator, mode seeking kl, k2 kl",
            "forward": """
                forward kl, k3, k3 loss, k3 estimator, mass covering kl, k3 kl, low variance kl
            """,
        },
        hints={"reverse": "reverse", "forward": "forward"},
        expected="k3 as a loss follows the forward KL; differences show at large coefficients.",
        source="arXiv:2510.01555",
        null_when="kl_coef is 0",
        traps=("With kl_coef 0 the estimator is never used.",),
        requires=(KL_ACTIVE,),
        nulls=(Null({"algorithm.kl_coef": 0.0}, ("reverse", "forward")),),
    ),
    CatalogueFactor(
        name="kl_placement",
        title="KL in the loss or in the reward",
        sets=("algorithm.kl_placement",),
        levels=("loss", "reward"),
        aliases="""
            kl placement, kl in reward or loss, kl in loss or reward, where the kl goes,
            where to put the kl, placement of the kl, kl position
        """,
        words={
            "loss": """
                kl in the loss, kl in loss, kl as loss, kl as a loss, kl loss term,
                kl penalty in the loss, kl term in the loss, as a loss term, as loss term
            """,
            "reward": """
                kl in the reward, kl in reward, kl as reward, k1 in reward, k1 in the reward,
                kl penalty in the reward, kl term in the reward, subtracted from the reward,
                kl in the rewards, kl shaped reward, as a reward penalty
            """,
        },
        expected="In the reward the KL is baselined and credited to earlier tokens.",
        source="arXiv:2402.14740, arXiv:2510.01555",
        null_when="kl_coef is 0",
        requires=(KL_ACTIVE,),
        nulls=(Null({"algorithm.kl_coef": 0.0}, ("loss", "reward")),),
    ),
    CatalogueFactor(
        name="entropy_bonus",
        title="entropy bonus",
        sets=("algorithm.entropy_coef",),
        levels=(0.0, 0.003, 0.01),
        two=(0.0, 0.01),
        bounds=(-1.0, 1.0),
        aliases="""
            entropy bonus, entropy coefficient, entropy coef, entropy regularization, entropy loss,
            entropy term, max entropy, entropy penalty, entropy weight, entropy regularisation,
            entropy regularizer, bonus for entropy, entropy bonuses, entropy coeff
        """,
        words={
            0.0: """
                no entropy bonus, without an entropy bonus, without entropy bonus, no entropy term,
                no entropy regularization, without entropy regularization
            """
        },
        expected="Entropy stays up; accuracy gains are small, and a large bonus makes noise.",
        source="arXiv:2505.22617",
        traps=("A constant coefficient that is too large makes entropy run away.",),
    ),
    CatalogueFactor(
        name="correction",
        title="correction of the gap to the sampler",
        sets=("algorithm.correction.kind", "algorithm.anchor"),
        levels=("none", "tis", "icepop"),
        aliases="""
            off policy correction, sampler correction, rollout correction,
            importance sampling correction, training inference mismatch, train inference mismatch,
            correction, staleness correction, corrections, mismatch correction, importance
            correction,
            importance weights, importance ratios, is correction, off policy corrections,
            correcting for staleness, engine mismatch correction
        """,
        words={
            "none": """
                no correction, without correction, without a correction, uncorrected,
                without correcting, no is correction, no importance correction
            """,
            "tis": """
                tis, truncated importance sampling, truncated is, truncated importance weights,
                truncated importance correction, truncated ratios
            """,
            "icepop": "icepop, ice pop",
            "token_mask": """
                token mask, token masking, masking stale tokens, token level mask,
                token level masking, masked tokens, masking tokens
            """,
            "sequence_mask": """
                sequence mask, sequence masking, masked importance sampling, sequence level mask,
                sequence level masking, masking sequences, masking whole sequences
            """,
            "decoupled": "decoupled ppo, decoupled objective, decoupled loss",
            "dppo": "divergence mask, tv mask",
        },
        values={
            kind: {
                "algorithm.correction.kind": kind,
                **({"algorithm.anchor": "batch_start"} if kind in REWEIGHTING else {}),
            }
            for kind in get_args(CorrectionKind)
        },
        expected="At small lag near ties; at large lag uncorrected ratios collapse first.",
        source="arXiv:2510.18855, arXiv:2505.24298, arXiv:2410.18252",
        null_when="staleness 0 in one numeric precision: sampler and learner agree",
        traps=(
            "Uncorrected, the clip sees the ratio to the sampler; tis, icepop and decoupled clip "
            "the ratio to the batch's start and weight by the rest.",
            "A level that needs no anchor of its own leaves the algorithm's: GSPO's ratio is to "
            "the batch's start, so under it stale rollouts cannot go uncorrected.",
            "A correction shows only where rollouts are stale: fix the staleness, or cross it.",
        ),
        requires=(STALE, CLIP_EXISTS),
    ),
)
