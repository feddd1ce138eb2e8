"""Factors of the optimizer: rates, moments, and updates per batch."""

from autoresearch.catalogue.factor import CatalogueFactor

_ON_POLICY = "arXiv:2006.05990"

FACTORS = (
    CatalogueFactor(
        name="learning_rate",
        title="learning rate",
        sets=("optim.lr",),
        levels=(3e-4, 1e-3, 2e-3),
        two=(1e-3, 3e-4),
        bounds=(1e-8, 1.0),
        aliases="learning rate, lr, step size, stepsize",
        expected="An inverted U; LoRA's optimum lies about ten times above full fine-tuning's.",
        source="LoRA Without Regret (Thinking Machines, 2025)",
        traps=("A best rate belongs to a batch size, a rank and a number of steps.",),
    ),
    CatalogueFactor(
        name="lr_schedule",
        title="learning-rate schedule",
        sets=("optim.schedule",),
        levels=("constant", "linear", "cosine"),
        two=("constant", "cosine"),
        aliases="""
            lr schedule, lr scheduler, learning rate schedule, learning rate scheduler,
            learning rate decay, lr decay, annealing, decaying the learning rate,
            anneal the learning rate, annealing the learning rate, lr annealing, decay the lr
        """,
        words={
            "constant": """
                constant lr, constant learning rate, constant schedule, no lr decay,
                no learning rate decay, no decay
            """,
            "linear": "linear decay, linear schedule",
            "cosine": "cosine, cosine decay, cosine schedule, cosine annealing",
        },
        hints={"constant": "constant", "linear": "linear"},
        everyday="annealing, cosine",
        expected="Decay helps a little at the end of training.",
        source=_ON_POLICY,
        null_when="one update in all",
        traps=("A decayed run spends less learning rate in sum: compare with a tuned rate.",),
    ),
    CatalogueFactor(
        name="lr_warmup",
        title="learning-rate warm-up",
        sets=("optim.warmup_steps",),
        levels=(0, 5, 20),
        two=(0, 10),
        bounds=(0, 100_000),
        aliases="""
            lr warmup, lr warm up, learning rate warmup, learning rate warm up, warmup steps,
            warm up steps, warmup, warm up
        """,
        words={0: "no warmup, without warmup, no warm up, without warm up"},
        everyday="warmup",
        units=("steps",),
        expected="Guards Adam's first updates; small effect at LoRA's scale.",
        source="arXiv:1908.03265",
    ),
    CatalogueFactor(
        name="adam_beta1",
        title="Adam's beta1",
        sets=("optim.beta1",),
        levels=(0.0, 0.9, 0.95),
        two=(0.9, 0.0),
        bounds=(0.0, 0.9999),
        aliases="adam beta1, beta1, beta 1, momentum, adam momentum",
        everyday="momentum",
        expected="Flat between 0.8 and 0.95 in on-policy training.",
        source=f"arXiv:1412.6980, {_ON_POLICY}",
        null_when="one update in all: the bias correction cancels beta1",
    ),
    CatalogueFactor(
        name="adam_beta2",
        title="Adam's beta2",
        sets=("optim.beta2",),
        levels=(0.95, 0.99, 0.999),
        two=(0.999, 0.95),
        bounds=(0.0, 0.99999),
        aliases="adam beta2, beta2, beta 2, optimizer betas, adam betas, betas",
        expected="Lower values forget old gradient scales sooner; matters when scales drift.",
        source=f"arXiv:1412.6980, {_ON_POLICY}",
        null_when="one update in all: the bias correction cancels beta2",
    ),
    CatalogueFactor(
        name="weight_decay",
        title="weight decay",
        sets=("optim.weight_decay",),
        levels=(0.0, 0.01, 0.1),
        two=(0.0, 0.1),
        bounds=(0.0, 10.0),
        aliases="weight decay, adamw decay, l2 regularization, decoupled weight decay",
        words={0.0: "no weight decay, without weight decay"},
        expected="No visible effect in short RL runs.",
        source="arXiv:1711.05101",
        traps=("Decay on LoRA factors pulls the update towards zero, not the weights.",),
    ),
    CatalogueFactor(
        name="grad_clip",
        title="gradient-norm clip",
        sets=("optim.grad_clip",),
        levels=(0.1, 1.0, 10.0),
        two=(1.0, 0.1),
        bounds=(1e-6, 1e6),
        aliases="""
            gradient clipping, gradient clip, grad clip, grad clipping, gradient norm clipping,
            grad norm clipping, clipping gradients, clipping the gradient, max grad norm
        """,
        expected="Small effect on final quality; caps the damage of rare batches.",
        source=_ON_POLICY,
        null_when="the gradient norm stays below both levels",
        traps=("AdamW undoes a constant factor: a clip acts only where norms vary.",),
        probe=(1.0, 1e-3),
    ),
    CatalogueFactor(
        name="updates_per_batch",
        title="updates per batch",
        sets=("batch.epochs",),
        levels=(1, 2, 4),
        two=(1, 4),
        bounds=(1, 64),
        aliases="""
            updates per batch, updates a batch, updates/batch, number of updates,
            gradient steps per batch, optimizer steps per batch, epochs per batch, ppo epochs,
            inner epochs, inner updates, num iterations, mu iterations, grpo iterations,
            sample reuse, batch reuse, reusing rollouts, reuse of rollouts, multiple updates,
            several updates
        """,
        words={1: "on policy updates, one update per batch, single update"},
        everyday="reuse",
        symbols=("mu",),
        units=("updates", "epochs", "passes", "iterations"),
        expected="More updates learn faster per rollout, then drift off-policy and collapse.",
        source="arXiv:1707.06347, arXiv:2402.03300",
        traps=(
            "More updates at one learning rate also move further; the effect is reuse and rate "
            "together unless the rate is tuned.",
        ),
    ),
    CatalogueFactor(
        name="minibatches",
        title="minibatches per pass",
        sets=("batch.minibatches",),
        levels=(1, 2, 4),
        two=(1, 4),
        bounds=(1, 256),
        aliases="""
            minibatches, mini batches, minibatch size, mini batch size, ppo minibatch, minibatch,
            mini batch, splitting the batch
        """,
        units=("minibatches",),
        expected="More, smaller updates: faster at first, noisier, slightly off-policy.",
        source=f"arXiv:1707.06347, {_ON_POLICY}",
        traps=("Minibatches multiply the updates: learning rate and step count are confounded.",),
    ),
)
