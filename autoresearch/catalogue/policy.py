"""Factors of the policy: adapter, weights, what comes before RL; and none at all (A/A)."""

from autoresearch.catalogue.factor import CatalogueFactor, Null, Requirement

_LORA = "arXiv:2106.09685"
_REGRET = "LoRA Without Regret (Thinking Machines, 2025)"
_FULL = {"policy.kind": "full"}

ADAPTER = Requirement(
    "PB407",
    "full weights have no adapter",
    lambda config: config.policy.kind == "lora",
    {"policy.kind": "lora"},
)

FACTORS = (
    CatalogueFactor(
        name="lora_rank",
        title="LoRA rank",
        sets=("policy.rank",),
        levels=(1, 8, 64),
        two=(8, 1),
        bounds=(1, 512),
        aliases="""
            lora rank, rank, adapter rank, rank of lora, lora r, lora capacity, lora ranks, ranks,
            rank of the adapter, rank of the lora, adapter ranks, lora size, adapter size,
            lora dimension
        """,
        everyday="rank",
        symbols=("r",),
        expected="Rank 1 comes close to full fine-tuning in RL.",
        source=f"{_LORA}, {_REGRET}",
        null_when="full weights are trained",
        traps=(
            "policy.alpha stays fixed, so the scale alpha/rank falls as the rank grows: under this "
            "parametrisation one learning rate serves all ranks.",
        ),
        requires=(ADAPTER,),
        nulls=(Null(_FULL, (8, 1)),),
    ),
    CatalogueFactor(
        name="lora_alpha",
        title="LoRA alpha",
        sets=("policy.alpha",),
        levels=(4.0, 16.0, 64.0),
        two=(16.0, 64.0),
        bounds=(1e-3, 4096.0),
        aliases="""
            lora alpha, alpha, lora scale, lora scaling, adapter scale, alphas, lora alphas,
            scale of the adapter, scaling of the adapter
        """,
        everyday="alpha",
        expected="Acts much like a learning rate on the adapter.",
        source=f"{_LORA}, arXiv:2312.03732",
        null_when="full weights are trained",
        traps=("Alpha and learning rate move the same thing: tune the rate in both arms.",),
        requires=(ADAPTER,),
        nulls=(Null(_FULL, (16.0, 64.0)),),
    ),
    CatalogueFactor(
        name="lora_targets",
        title="layers with an adapter",
        sets=("policy.targets",),
        levels=("all", "attention", "mlp"),
        aliases="""
            lora targets, target modules, lora target modules, lora layers, which layers,
            adapted layers, lora placement, layers to adapt, which modules, adapter placement,
            adapters on, lora on, target layers, adapter layers, modules to adapt, adapted modules
        """,
        words={
            "all": """
                all linear layers, all linear, all layers, every layer, every linear layer,
                attention and mlp, attention plus mlp, attention + mlp, both attention and mlp,
                all modules, all projections
            """,
            "attention": """
                attention only, attention layers, only attention, attention projections, qkvo,
                only the attention, attention alone, q and v, attention matrices
            """,
            "mlp": """
                mlp only, mlp layers, only mlp, only the mlp, mlps, mlps only, mlp alone, only mlps
            """,
        },
        hints={"attention": "attention", "mlp": "mlp, ffn", "all": "all, everything, everywhere"},
        expected="Attention alone does worse than MLPs or all layers at equal parameters.",
        source=_REGRET,
        null_when="full weights are trained",
        traps=("Arms differ in trained parameters at equal rank.",),
        requires=(ADAPTER,),
        nulls=(Null(_FULL, ("all", "attention")),),
    ),
    CatalogueFactor(
        name="full_weights",
        title="LoRA or full weights",
        sets=("policy.kind", "optim.lr"),
        levels=("lora", "full"),
        aliases="""
            lora or full, lora without regret, lora or full weights, lora or full finetuning,
            lora or full fine tuning
        """,
        words={
            "full": """
                full weights, full fine tuning, full finetuning, full fine tune, full parameter,
                full ft, fft, full rank training, full rank, full parameter training,
                full parameter fine tuning, full model, all weights, all parameters,
                training all weights, full weight training, full model training, full rl,
                full tuning, full update, full parameter finetuning, full weight, full finetune
            """
        },
        hints={"lora": "lora, adapter, adapters, low rank", "full": "full"},
        values={
            "lora": {"policy.kind": "lora", "optim.lr": 1e-3},
            "full": {"policy.kind": "full", "optim.lr": 1e-4},
        },
        expected="Equal in RL when each has its own learning rate, LoRA's about ten times larger.",
        source=_REGRET,
        traps=("They share no learning rate: full weights have a tenth of LoRA's.",),
    ),
    CatalogueFactor(
        name="sft_warmup",
        title="SFT steps before RL",
        sets=("warmup.steps",),
        levels=(0, 10, 50),
        two=(0, 20),
        bounds=(0, 100_000),
        aliases="""
            sft, sft warmup, sft warm up, sft warmup steps, sft warm up steps, warm up steps of sft,
            warmup steps of sft, sft steps, sft before rl, warm up by sft, warmup by sft,
            warmup with sft, warm up with sft, supervised warmup, supervised warm up,
            supervised fine tuning, supervised finetuning, supervised pretraining, supervised steps,
            cold start, warm start, warm starting, imitation before rl, sft first, supervised first,
            sft phase, sft stage, sft cold start, supervised start, behaviour cloning,
            behavior cloning, steps of imitation, sft pretraining, sft steps before rl,
            steps of supervised training, demonstrations before rl, imitation steps
        """,
        words={
            0: """
                no sft, without sft, rl from scratch, zero rl, skipping sft, rl alone, rl only,
                no warm start, no cold start, pure rl, straight to rl, direct rl, no supervised
                warmup, rl from the base model, r1 zero
            """
        },
        units=("steps", "updates"),
        expected="A threshold, then an inverted U: too much SFT lowers entropy before RL begins.",
        source="arXiv:2505.13718",
        traps=(
            "SFT steps are extra compute: RL steps are equal, total compute is not.",
            "The `tiny` base has seen SFT on these tasks already; level 0 is not an untrained "
            "model.",
        ),
    ),
    CatalogueFactor(
        name="replicate",
        title="nothing (A/A)",
        sets=(),
        levels=("a", "b"),
        aliases="""
            seed matter, seeds matter, choice of seed, random seed matter, seeds differ,
            noise, noisy, noise floor, a a test, a/a, aa test, seed noise, seed variance,
            seed to seed, seed sensitivity, sensitivity to seeds, sensitive to seeds,
            sensitive to the seed, depend on the seed, random seed, seed variability, across seeds,
            between seeds, run to run, variance of my runs, variance between runs,
            variance across runs, how many seeds, reproducible, reproducibility
        """,
        everyday="noise, noisy, reproducible",
        expected="No difference; the spread over seeds sizes every other study.",
        source="arXiv:2504.07086, arXiv:1709.06560",
        null_when="always: the levels are labels of one recipe",
        nulls=(Null({}, ("a", "b")),),
    ),
)
