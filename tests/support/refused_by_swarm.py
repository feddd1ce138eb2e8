"""A refused command for each place in `swarm` that makes a Refusal."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.refused import (
    ASK,
    EVAL,
    TRAIN,
    Before,
    adapter,
    by_module,
    case,
    llama,
    rows,
    run_folder,
    task,
)

OWN = f"{TRAIN} --set task.args={{}} --set task.ref="
ROWS, CODE = f"{OWN}rows.jsonl", f"{OWN}mine.py:make"
MODEL = f"{TRAIN} --set model.ref=model"
ADAPTER = f"{EVAL} --adapter adapter"
START = ASK.removesuffix(" --dry-run")
HF = {"model/config.json": "{}", "model/tokenizer.json": "{}"}
LAYER = "base_model.model.model.layers.0.self_attn.q_proj"
SAID = {"role": "user", "content": "R:ab>"}
GOOD = [{"prompt": f"R:{i}>", "answer": str(i)} for i in range(99)]
DEAD = "127.0.0.1:1"
FETCH = f"{TRAIN} --set model.ref=no/such"
BROKEN_ADAPTER = {"adapter/adapter_config.json": "{", "adapter/adapter_model.safetensors": ""}

#: What stands in for another machine, network or package.
IMPATIENT = {"swarm.cluster.reach.PATIENCE": 1e-3}
ANOTHER_TINY = {"swarm.models.tiny.FILES": {"config.json": "0"}}
NO_CUDA = {"torch.cuda.is_available": lambda: False}


def hub(error: str) -> Mapping[str, Any]:
    """A hub that answers with this error."""

    def answer(*_: object, **__: object) -> None:
        import httpx
        from huggingface_hub import errors

        kind = getattr(errors, error)
        response = httpx.Response(404, request=httpx.Request("GET", "https://hub"))
        raise kind("no", response=response) if error.startswith("Repo") else kind("no")

    return {"huggingface_hub.snapshot_download": answer}


def random_model(name: str, **settings: Any) -> Before:
    """The folder `model`: this architecture at a small size."""

    def write() -> None:
        from support.architectures import build, save

        save(build(name, **settings), Path("model"))

    return write


def template(text: str) -> Before:
    """The folder `model`: a random Llama with this chat template."""

    def write() -> None:
        llama()()
        _set("tokenizer_config.json", chat_template=text)

    return write


def _set(file: str, **values: object) -> None:
    path = Path("model") / file
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def without_an_end() -> None:
    """The tokenizer of `model` names no end."""
    _set("tokenizer_config.json", eos_token=None)


def with_a_weight_that_is_none() -> None:
    """The folder `model`: a random Llama of which one weight is NaN."""
    from support.architectures import build, save

    model = build("llama")
    model.get_submodule("model.norm").weight.data[0] = float("nan")
    save(model, Path("model"))


def a_foreign_checkpoint() -> None:
    from swarm.disk.storage import Storage

    Storage("far").write("step-000001", [("state.json", b"{}")])


CASES = by_module(
    {
        "swarm.cli.commands": {
            "_fresh#1": case("swarm train c.yaml --out c.yaml"),
            "_fresh#2": case(TRAIN, {}, run_folder()),
            "_resumed#1": case(f"{TRAIN} --resume"),
            "_resumed#2": case(f"{TRAIN} --resume", {}, run_folder(steps=7)),
        },
        "swarm.cli.config_file": {
            "_read_yaml": case(TRAIN, {"c.yaml": "- steps"}),
            "_set": case(f"{TRAIN} --set steps.more=1"),
            "_validated#1": case(f"{TRAIN} --set optim.l=1"),
            "_validated#2": case(f"{TRAIN} --set batch.group_size=1"),
        },
        "swarm.cluster.reach": {
            "check_reachable#1": case(f"{START} --ray-address here"),
            "check_reachable#2": case(f"{START} --ray-address {DEAD}", stands_in=IMPATIENT),
            "check_reachable#3": case(f"{START} --ray-address {DEAD}"),
        },
        "swarm.config.assignments": {
            "assignments#1": case(f"{TRAIN} --set steps"),
            "assignments#2": case(f"{TRAIN} --set steps=1 --set steps=2"),
            "single_values": case(f"{ASK} --set 'task.args={{min: 3}}'"),
            "_value": case(f"{TRAIN} --set 'steps=[1]'"),
        },
        "swarm.config.checked": {
            "check_path": case(f"{ASK} --set optim.lrr=1"),
            "check_value": case(f"{ASK} --set optim.lr=fast"),
            "configure": case(f"{ASK} --set batch.rollouts=9"),
        },
        "swarm.config.yaml_file": {
            "read_yaml#1": case("swarm train none.yaml"),
            "read_yaml#2": case("swarm train c.yaml", {"c.yaml": b"steps: \xff"}),
        },
        "swarm.disk.folder": {
            "_damaged": case(f"{TRAIN} --resume", {"run/metrics.jsonl": "{\n"}, run_folder()),
        },
        "swarm.disk.run_config": {
            "read_config": case(f"{TRAIN} --resume", {"run/config.yaml": "stepz: 3"}),
        },
        "swarm.disk.storage": {
            "Storage.__init__": case(f"{TRAIN} --checkpoints nowhere://x"),
            "Storage.check_writable": case(f"{TRAIN} --checkpoints c.yaml"),
        },
        "swarm.models.architectures": {
            "check_proven#1": case(MODEL, {}, random_model("stablelm")),
            "check_proven#2": case(MODEL, {}, llama(final_logit_softcapping=30.0)),
            "check_proven#3": case(MODEL, {}, llama(logit_scale=0.5)),
            "check_proven#4": case(
                MODEL, {}, llama(layer_types=["chunked_attention", "full_attention"])
            ),
            "check_proven#5": case(
                MODEL, {}, llama(rope_parameters={"rope_type": "proportional", "rope_theta": 1e4})
            ),
        },
        "swarm.models.ends": {"ends_of": case(MODEL, {}, llama(eos_token_id=None), without_an_end)},
        "swarm.models.sources": {
            "find": case(f"{TRAIN} --set model.ref=tinny"),
            "SmolLM2.ensure": case(f"{TRAIN} --set model.ref=smollm2-135m-instruct"),
            "Folder.ensure": case(MODEL, HF),
            "Hub._fetch#1": case(FETCH, stands_in=hub("RepositoryNotFoundError")),
            "Hub._fetch#2": case(FETCH, stands_in=hub("LocalEntryNotFoundError")),
            "_shards": case(MODEL, HF | {"model/model.safetensors.index.json": "[]"}),
        },
        "swarm.models.tiny": {"folder": case(TRAIN, stands_in=ANOTHER_TINY)},
        "swarm.policy.adapters": {
            "find_adapter": case(f"{EVAL} --adapter none"),
            "load_adapter#1": case(ADAPTER, {}, adapter(use_dora=True)),
            "load_adapter#2": case(ADAPTER, {}, adapter("head.lora_A", "head.lora_B")),
            "load_adapter#3": case(ADAPTER, {}, adapter(f"{LAYER}.lora_A")),
            "load_adapter#4": case(ADAPTER, {}, adapter(f"{LAYER}.lora_A", f"{LAYER}.lora_B")),
            "_read": case(ADAPTER, BROKEN_ADAPTER),
        },
        "swarm.policy.base_model": {
            "_read": case(MODEL, HF | {"model/model.safetensors": "broken"}),
            "usable_device": case(f"{TRAIN} --set device=cuda", stands_in=NO_CUDA),
        },
        "swarm.policy.targets": {
            "check#1": case(MODEL, {}, random_model("qwen3_moe")),
        },
        "swarm.tasks": {
            "load#1": case(f"{TRAIN} --set task.reward=praise"),
            "load#2": case(f"{TRAIN} --set task.template.enable_thinking=false"),
            "load#3": case(f"{ROWS} --set task.digest={'a' * 64}", rows(*GOOD)),
            "family": case(f"{TRAIN} --set task.ref=revers"),
        },
        "swarm.tasks.builtin": {
            "BuiltIn.evaluation": case(
                f"{TRAIN} --set task.args.min=1 --set task.args.max=1 --set evaluation.prompts=16"
            ),
            "levels_of#1": case(f"{TRAIN} --set task.args.mid=3"),
            "levels_of#2": case(f"{TRAIN} --set task.args.min=9"),
        },
        "swarm.tasks.code": {
            "made#1": case(f"{OWN}none.py:make"),
            "made#2": case(f"{CODE}s", task("1")),
            "made#3": case(CODE, task("Made(rows=ROWS)")),
            "_rows": case(CODE, task("Made(rows=3, reward=reward)")),
            "_raised": case(CODE, task("1 / 0")),
        },
        "swarm.tasks.own": {
            "load_own#1": case(f"{TRAIN} --set task.ref=rows.jsonl", rows(*GOOD)),
            "load_own#2": case(ROWS, rows({"prompt": "R:1>"})),
            "OwnTask.check#1": case(f"{ROWS} --set data.order=easy_first", rows(*GOOD)),
            "OwnTask.check#2": case(
                f"{ROWS} --set task.template.enable_thinking=false", rows(*GOOD)
            ),
            "OwnTask.check#3": case(ROWS, rows(*GOOD, {"messages": [SAID], "answer": "ba"})),
            "OwnTask.check#4": case(
                f"{ROWS} --set model.ref=model --set sampling.max_tokens=90",
                rows(*GOOD, {"prompt": "R:abcdefgh>", "answer": "1"}),
                random_model("llama", rope_parameters={"rope_type": "dynamic", "factor": 2.0}),
            ),
            "OwnTask.check#5": case(
                f"{CODE} --set warmup.steps=1",
                task("Made(rows=[{'prompt': row['prompt']} for row in ROWS], reward=reward)"),
            ),
            "OwnTask.check#6": case(
                f"{ROWS} --set warmup.steps=1",
                rows(*GOOD, {"prompt": "R:1>", "answer": "1" * 300}),
            ),
            "OwnTask._written#1": case(
                f"{ROWS} --set model.ref=model",
                rows(*GOOD),
                template("{{ raise_exception('no') }}"),
            ),
            "OwnTask._written#2": case(
                f"{ROWS} --set model.ref=model", rows(*GOOD), template("{# nothing #}")
            ),
            "_split": case(ROWS, rows(GOOD[0])),
            "_check_text": case(ROWS, rows(*GOOD, {"prompt": "QUIZ", "answer": "?"})),
        },
        "swarm.tasks.own_rows": {
            "from_file": case(f"{OWN}none.jsonl"),
            "from_values#1": case(CODE, task("Made(rows=[3], reward=reward)")),
            "from_values#2": case(CODE, task("Made(rows=[{'prompt': {1}}], reward=reward)")),
            "row#1": case(ROWS, rows({"question": "R:1>"})),
            "row#2": case(ROWS, rows({"prompt": ""})),
            "row#3": case(ROWS, rows({"prompt": "\ud800", "answer": "1"})),
            "_parsed#1": case(ROWS, rows("{")),
            "_parsed#2": case(ROWS, rows("[]")),
            "_messages": case(ROWS, rows({"messages": [{"role": "user"}]})),
            "_answer": case(ROWS, rows({"prompt": "R:1>", "answer": [1]})),
            "_level": case(ROWS, rows({"prompt": "R:1>", "answer": "1", "level": 0})),
        },
        "swarm.train.proof": {
            "prove": case(MODEL, {}, with_a_weight_that_is_none),
            "_compare": case(
                TRAIN, stands_in={"swarm.engine.trunk.logit_scale": lambda config: 2.0}
            ),
        },
        "swarm.train.resume": {
            "begin#3": case(f"{TRAIN} --checkpoints far", {}, a_foreign_checkpoint),
        },
    }
)

#: Places that no command line leads to, and why.
OUT_OF_REACH: Mapping[str, str] = {
    "swarm.cluster.cluster:Cluster.start": "the cluster has to die right after it has answered",
    "swarm.engine.kv_cache:PromptCache.stacked": "needs a model whose layers differ in shape",
    "swarm.learn.attention:tree_attention": "no architecture of the table has such attention",
    "swarm.learn.forward:trained_logprobs": "no architecture of the table has other layers",
    "swarm.policy.targets:_blocks": "every architecture of the table has a list of layers",
    "swarm.policy.targets:check#2": "every architecture of the table has linear layers",
    "swarm.tasks.code:_module": "Python finds a loader for every .py file",
    "swarm.train.resume:begin#1": "`swarm train` has refused the folder by then",
    "swarm.train.resume:begin#2": "`swarm train` has named the setting that differs by then",
}
