"""A refused command for each place in `swarm` that makes a Refusal."""

import json
import shutil
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
FOLDER, BESIDE = f"{OWN}./data", "--set task.reward=score.py:f"
MIXED = f"{OWN}mixture --set task.sources.a.ref=sort"
MODEL = f"{TRAIN} --set model.ref=model"
ADAPTER = f"{EVAL} --adapter adapter"
FROM_ADAPTER = f"{TRAIN} --set policy.start=adapter"
FROM_MODEL = f"{TRAIN} --set policy.kind=full --set policy.start=model"
START = ASK.removesuffix(" --dry-run")
HF = {"model/config.json": "{}", "model/tokenizer.json": "{}"}
LAYER = "base_model.model.model.layers.0.self_attn.q_proj"
HEAD = "base_model.model.lm_head"
SAID = {"role": "user", "content": "R:ab>"}
GOOD = [{"prompt": f"R:{i}>", "answer": str(i)} for i in range(99)]
DEAD = "127.0.0.1:1"
FETCH = f"{TRAIN} --set model.ref=no/such"
BROKEN_ADAPTER = {"adapter/adapter_config.json": "{", "adapter/adapter_model.safetensors": ""}

#: What stands in for another machine, network or package.
TOKEN = {"swarm.cluster.reach._NO_TOKEN": ""}
ANOTHER_TINY = {"swarm.models.tiny.FILES": {"config.json": "0"}}
NO_CUDA = {"torch.cuda.is_available": lambda: False}


def evaluated_on(*sets: str) -> Mapping[str, str]:
    """A config whose evaluation has these sets."""
    return {"c.yaml": f"steps: 2\nevaluation: {{sets: [{', '.join(sets)}]}}\n"}


def hub(error: str) -> Mapping[str, Any]:
    """A hub that answers with this error."""

    def answer(*_: object, **__: object) -> None:
        import httpx
        from huggingface_hub import errors

        kind = getattr(errors, error)
        response = httpx.Response(404, request=httpx.Request("GET", "https://hub"))
        raise kind("no", response=response) if error.startswith("Repo") else kind("no")

    return {"huggingface_hub.snapshot_download": answer}


#: A hub whose snapshot is an empty folder.
hub_folder: Mapping[str, Any] = {"huggingface_hub.snapshot_download": lambda *_, **__: "snapshot"}


def reward(parameters: str) -> Mapping[str, str]:
    """`score.py:f`, a reward function with these parameters."""
    return {"score.py": f"def f({parameters}):\n    return 0.0\n"}


def _table(*columns: tuple[str, Any]) -> None:
    import pyarrow
    from pyarrow import parquet

    names, arrays = zip(*columns, strict=True)
    parquet.write_table(pyarrow.table(list(arrays), names=list(names)), "rows.parquet")


def a_table_with_a_name_twice() -> None:
    _table(("prompt", ["a"]), ("prompt", ["b"]))


def a_table_of_the_far_future() -> None:
    import pyarrow

    _table(("prompt", ["a"]), ("when", pyarrow.array([2**62], pyarrow.timestamp("ms"))))


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


def most_of_tiny() -> None:
    """The folder `model`: the weights of `tiny` but for one."""
    from safetensors.torch import load_file, save_file

    from swarm.models import tiny

    folder = Path("model")
    shutil.copytree(tiny.folder(), folder)
    tensors = load_file(folder / tiny.WEIGHTS)
    del tensors["model.norm.weight"]
    save_file(tensors, folder / tiny.WEIGHTS, metadata={"format": "pt"})


def an_owner() -> None:
    """This very process writes the folder `run`."""
    import json
    from dataclasses import asdict

    from swarm.disk.holder import Holder

    Path("run/.owner-1").write_text(json.dumps(asdict(Holder.current())))


def unreadable() -> None:
    """Where a set's file should be is a folder."""
    Path("far/run/run.json").mkdir(parents=True)


def checkpoints_that_are_gone() -> None:
    Path("run/events.jsonl").write_text('{"kind": "checkpoint", "detail": {"step": 1}}\n')


def unnamed_cache() -> None:
    import os

    os.environ.pop("AUTORESEARCH_CACHE", None)  # the test sets it back


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def a_foreign_checkpoint() -> None:
    from swarm.disk.storage import Storage

    Storage("far").write("step-000001", [("state.json", b"{}")])


CASES = by_module(
    {
        "swarm.cli.actions": {
            "_check_lasting": case(f"{TRAIN} --checkpoints memory://here"),
            "_fresh": case(TRAIN, {}, run_folder()),
            "_given": case("swarm train c.yaml --out ''"),
            "_resumed": case(f"{TRAIN} --resume"),
        },
        "swarm.cli.config_file": {
            "_read_yaml": case(TRAIN, {"c.yaml": "- steps"}),
            "_set": case(f"{TRAIN} --set steps.more=1"),
            "_validated#1": case(f"{TRAIN} --set optim.l=1"),
            "_validated#2": case(f"{TRAIN} --set batch.group_size=1"),
        },
        "swarm.cluster.reach": {
            "check_reachable#1": case(f"{START} --ray-address here"),
            "check_reachable#2": case(f"{START} --ray-address {DEAD}", stands_in=TOKEN),
            "check_reachable#3": case(f"{START} --ray-address {DEAD}"),
        },
        "swarm.config.assignments": {
            "assignments#1": case(f"{TRAIN} --set steps"),
            "assignments#2": case(f"{TRAIN} --set steps=1 --set steps=2"),
            "single_values": case(f"{ASK} --set 'task.args={{min: 3}}'"),
            "_value": case(f"{TRAIN} --set 'steps=[1]'"),
        },
        "swarm.config.checked": {
            "_check_source": case(f"{ASK} --set task.sources.a.wight=1"),
            "check_path": case(f"{ASK} --set optim.lrr=1"),
            "check_value#1": case(f"{ASK} --set optim.lr=fast"),
            "check_value#2": case(f"{ASK} --set optim.lr=1e308"),
            "configure": case(f"{ASK} --set batch.rollouts=9"),
        },
        "swarm.config.extension": {
            "check_continues#1": case(f"{TRAIN} --resume", {}, run_folder(steps=7)),
            "check_continues#2": case(
                f"{TRAIN} --resume --set optim.schedule=linear",
                {},
                run_folder(**{"steps": 1, "optim.schedule": "linear"}),
            ),
        },
        "swarm.config.yaml_file": {
            "read_yaml#1": case("swarm train none.yaml"),
            "read_yaml#2": case("swarm train c.yaml", {"c.yaml": b"steps: \xff"}),
        },
        "swarm.disk.folder": {
            "_damaged": case(f"{TRAIN} --resume", {"run/metrics.jsonl": "{\n"}, run_folder()),
        },
        "swarm.disk.ownership": {
            "_bad": case("swarm train c.yaml --out c.yaml"),
            "_take": case(f"{TRAIN} --resume", {}, run_folder(), an_owner),
        },
        "swarm.disk.run_config": {
            "read_config": case(f"{TRAIN} --resume", {"run/config.yaml": "stepz: 3"}),
        },
        "swarm.disk.storage": {
            "Storage.__init__#1": case(f"{TRAIN} --checkpoints file://"),
            "Storage.__init__#2": case(f"{TRAIN} --checkpoints ://x"),
            "Storage.__init__#3": case(f"{TRAIN} --checkpoints nowhere://x"),
            "Storage._reading": case(f"{TRAIN} --checkpoints far", {}, unreadable),
            "Storage.check_writable": case(f"{TRAIN} --checkpoints c.yaml"),
        },
        "swarm.engine.torch_engine": {
            "TorchEngine.check_budget": case(f"{TRAIN} --set sampling.max_tokens=100000"),
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
        "swarm.models.model_cache": {
            "cache_folder": case(
                "autoresearch model add smollm2-135m-instruct",
                {},
                unnamed_cache,
                stands_in={"pathlib.Path.home": no_home},
            ),
        },
        "swarm.models.sources": {
            "find": case(f"{TRAIN} --set model.ref=tinny"),
            "SmolLM2.ensure": case(f"{TRAIN} --set model.ref=smollm2-135m-instruct"),
            "Folder.ensure#1": case(MODEL, {"model/adapter_config.json": "{}"}),
            "Folder.ensure#2": case(MODEL, HF),
            "Hub._fetch#1": case(FETCH, stands_in=hub("RepositoryNotFoundError")),
            "Hub._fetch#2": case(FETCH, stands_in=hub("LocalEntryNotFoundError")),
            "_shards": case(MODEL, HF | {"model/model.safetensors.index.json": "[]"}),
        },
        "swarm.models.tiny": {"folder": case(TRAIN, stands_in=ANOTHER_TINY)},
        "swarm.policy.adapters": {
            "start_from_adapter": case(
                f"{FROM_ADAPTER} --set policy.rank=2 --set policy.alpha=4", {}, adapter()
            ),
            "load_weights#1": case(FROM_MODEL, {}, llama()),
            "load_weights#2": case(FROM_MODEL, {}, most_of_tiny),
            "_read_pairs#1": case(ADAPTER, {}, adapter("head.lora_A", "head.lora_B")),
            "_read_pairs#2": case(ADAPTER, {}, adapter(f"{HEAD}.lora_A", f"{HEAD}.lora_B")),
            "_read_pairs#3": case(ADAPTER, {}, adapter(f"{LAYER}.lora_A")),
            "_read_pairs#4": case(ADAPTER, {}, adapter(f"{LAYER}.lora_A", f"{LAYER}.lora_B")),
            "_tensors": case(
                ADAPTER,
                BROKEN_ADAPTER | {"adapter/adapter_config.json": '{"r": 2, "lora_alpha": 4}'},
            ),
        },
        "swarm.policy.adapter_config": {
            "read_adapter_config#1": case(ADAPTER, BROKEN_ADAPTER),
            "read_adapter_config#2": case(ADAPTER, {}, adapter(use_dora=True)),
        },
        "swarm.policy.saved_weights": {
            "find_weights#1": case(
                ADAPTER, {"adapter/adapter_config.json": "{}", "adapter/adapter_model.bin": ""}
            ),
            "find_weights#2": case(f"{EVAL} --adapter none"),
            "start_digest#1": case(f"{FROM_ADAPTER} --set policy.kind=full", {}, adapter()),
            "start_digest#2": case(FROM_ADAPTER, {}, adapter(use_rslora=True)),
            "start_digest#3": case(FROM_ADAPTER, {}, adapter()),
        },
        "swarm.policy.base_model": {
            "_read": case(MODEL, HF | {"model/model.safetensors": "broken"}),
            "usable_device": case(f"{TRAIN} --set device=cuda", stands_in=NO_CUDA),
        },
        "swarm.policy.policy": {
            "Policy.__init__": case(
                f"{MODEL} --set policy.kind=full --set model.dtype=bfloat16",
                {},
                random_model("mixtral"),
            ),
        },
        "swarm.policy.targets": {
            "check#1": case(MODEL, {}, random_model("qwen3_moe")),
        },
        "swarm.tasks": {
            "load#1": case(f"{TRAIN} --set task.sources.a.ref=sort"),
            "load#2": case(f"{ROWS} --set task.digest={'a' * 64}", rows(*GOOD)),
            "_single#1": case(f"{TRAIN} --set task.reward=praise"),
            "_single#2": case(f"{TRAIN} --set task.split=test"),
            "_single#3": case(f"{TRAIN} --set task.template.enable_thinking=false"),
            "_mixture#1": case(f"{OWN}mixture"),
            "_mixture#2": case(f"{MIXED} --set task.split=test"),
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
            "made": case(CODE, task("Made(rows=ROWS)")),
            "function_of#1": case(f"{OWN}none.py:make"),
            "function_of#2": case(f"{CODE}s", task("1")),
            "reward_judge#1": case(f"{ROWS} {BESIDE}", {**rows(*GOOD), **reward("text")}),
            "reward_judge#2": case(
                f"{ROWS} {BESIDE}",
                {**rows(*GOOD), **reward("solution_str, ground_truth, judge")},
            ),
            "reward_judge#3": case(
                f"{ROWS} {BESIDE}",
                {**rows({"prompt": "R:1>"}), **reward("solution_str, ground_truth")},
            ),
            "_rows": case(CODE, task("Made(rows=3, reward=reward)")),
            "_blamed_on#1": case(
                f"{CODE} --set task.time_limit=0.1", task("__import__('time').sleep(9)")
            ),
            "_blamed_on#2": case(CODE, {"mine.py": "import beside", "beside.py": ""}),
            "_blamed_on#3": case(CODE, task("1 / 0")),
        },
        "swarm.tasks.data_files": {
            "read#1": case(f"{OWN}none.jsonl"),
            "read#2": case(f"{ROWS} --set task.split=test", rows(*GOOD)),
            "_split_files#1": case(
                f"{FOLDER} --set task.split=test", {"data/state.json": '{"_split": "train"}'}
            ),
            "_split_files#2": case(FOLDER, {"data/a/train.json": "", "data/b/train.json": ""}),
            "_no_split#1": case(FOLDER, {"data/x.txt": ""}),
            "_no_split#2": case(FOLDER, {"data/test.jsonl": ""}),
            "_saved": case(
                FOLDER, {"data/state.json": '{"_data_files": [{"filename": "a.arrow"}]}'}
            ),
            "_object": case(FOLDER, {"data/state.json": "{"}),
            "_rows": case(ROWS, {"rows.jsonl": "\ufeff{}".encode("utf-16-le")}),
            "_mistaken": case(ROWS, {"rows.jsonl": "PAR1"}),
            "_array#1": case(f"{OWN}rows.json", {"rows.json": "[{]"}),
            "_array#2": case(f"{OWN}rows.json", {"rows.json": "[{} {}]"}),
            "_text": case(f"{OWN}rows.csv", {"rows.csv": b"a,b\n\xff,1"}),
            "_row_object": case(ROWS, rows("[]")),
            "_parsed": case(ROWS, rows("{")),
            "_csv#1": case(f"{OWN}rows.csv", {"rows.csv": "a,a\n1,2"}),
            "_csv#2": case(f"{OWN}rows.csv", {"rows.csv": "a,b\n1,2,3"}),
            "_csv#3": case(f"{OWN}rows.csv", {"rows.csv": 'a,b\n1,"2'}),
        },
        "swarm.tasks.hub": {
            "read_hub": case(f"{OWN}hf:no/such", stands_in=hub_folder),
            "_fetched#1": case(f"{OWN}hf:no/such", stands_in=hub("RepositoryNotFoundError")),
            "_fetched#2": case(f"{OWN}no/such", stands_in=hub("LocalEntryNotFoundError")),
        },
        "swarm.tasks.layouts": {
            "_check_given#1": case(f"{ROWS} --set task.columns.promt=prompt", rows(*GOOD)),
            "_check_given#2": case(f"{ROWS} --set task.columns.prompt=promt", rows(*GOOD)),
            "_question": case(ROWS, rows({"question": "R:1>", "problem": "R:2>"})),
            "_cut": case(
                ROWS,
                rows({"question": "a", "answer": "#### 1"}, {"question": "b", "answer": "1"}),
            ),
        },
        "swarm.tasks.mixed": {
            "Mixture.check": case(
                f"{MIXED} --set 'task.sources.a.args={{min: 3, max: 3}}'"
                " --set data.order=easy_first"
            ),
            "of_source#1": case(f"{MIXED} --set task.sources.a.reward=praise"),
            "of_source#2": case(f"{OWN}mixture --set task.sources.a.ref=none.jsonl"),
        },
        "swarm.tasks.signatures": {
            "check_reserved": case(
                f"{ROWS} {BESIDE}",
                {**rows({**GOOD[0], "completions": "a"}), **reward("completions")},
            ),
            "check_columns": case(f"{ROWS} {BESIDE}", {**rows(*GOOD), **reward("completions, b")}),
        },
        "swarm.tasks.tables": {
            "_damaged": case(f"{OWN}rows.parquet", {"rows.parquet": "PAR1"}),
            "_rows": case(f"{OWN}rows.parquet", {}, a_table_with_a_name_twice),
            "_one_by_one": case(f"{OWN}rows.parquet", {}, a_table_of_the_far_future),
        },
        "swarm.tasks.own": {
            "load_own#1": case(f"{CODE} --set task.columns.prompt=q", task("Made()")),
            "load_own#2": case(f"{TRAIN} --set task.ref=rows.jsonl", rows(*GOOD)),
            "_with_judge": case(
                f"{ROWS} --set task.reward=number", rows({"prompt": "R:1>", "answer": "one"})
            ),
            "_no_answer#1": case(
                ROWS, rows({"question": "R:1>", "answer": "one", "solution": "1"})
            ),
            "_no_answer#2": case(ROWS, rows({"prompt": "R:1>", "answer": [1]})),
            "_no_answer#3": case(ROWS, rows({"prompt": "R:1>"})),
            "OwnTask.check#1": case(f"{ROWS} --set data.order=easy_first", rows(*GOOD)),
            "OwnTask.check#2": case(
                f"{ROWS} --set task.template.enable_thinking=false", rows(*GOOD)
            ),
            "OwnTask.check#3": case(ROWS, rows(*GOOD, {"messages": [SAID, SAID], "answer": "ba"})),
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
            "from_values#1": case(CODE, task("Made(rows=[3], reward=reward)")),
            "from_values#2": case(CODE, task("Made(rows=[{'prompt': {1}}], reward=reward)")),
            "row#1": case(ROWS, rows({"messages": [{"role": "assistant", "content": "a"}]})),
            "row#2": case(ROWS, rows({"text": "R:1>"})),
            "row#3": case(ROWS, rows({"prompt": ""})),
            "_check_values#1": case(ROWS, rows({"prompt": "\ud800", "answer": "1"})),
            "_check_values#2": case(ROWS, rows({"prompt": "R:1>", "answer": float("nan")})),
            "_message#1": case(ROWS, rows({"conversations": [{"from": "tool", "value": "1"}]})),
            "_message#2": case(ROWS, rows({"messages": [{"role": "user"}]})),
            "_with_system": case(
                ROWS,
                rows({"system": "a", "conversations": [{"from": "system", "value": "b"}]}),
            ),
            "_worked": case(ROWS, rows({"prompt": "R:1>", "answer": "1", "demonstration": [1]})),
            "_level": case(ROWS, rows({"prompt": "R:1>", "answer": "1", "level": 0})),
        },
        "swarm.train.eval_sets": {
            "_refuse_kind#1": case(TRAIN, evaluated_on("{ref: mixture}")),
            "_refuse_kind#2": case(TRAIN, evaluated_on("{ref: held-out, reward: math}")),
            "_of_set": case(TRAIN, evaluated_on("{ref: none.jsonl}")),
            "_refuse_sizes#1": case(
                TRAIN, {**rows(*GOOD), **evaluated_on("{ref: rows.jsonl, prompts: 100}")}
            ),
            "_refuse_sizes#2": case(
                TRAIN,
                {**rows(*GOOD), **evaluated_on("{ref: rows.jsonl}")},
                stands_in={"swarm.train.eval_sets.MOST_PROMPTS": 98},
            ),
            "_refuse_sizes#3": case(TRAIN, evaluated_on("{ref: sort, prompts: 2000, k: 1024}")),
            "_refuse_overlap": case(
                f"{ROWS} --set evaluation.every=3",
                {**rows(*GOOD), **evaluated_on("{ref: rows.jsonl, prompts: 9}")},
            ),
        },
        "swarm.train.proof": {
            "load_proven": case(MODEL, {}, random_model("qwen3_moe", moe_intermediate_size=10)),
            "prove": case(MODEL, {}, with_a_weight_that_is_none),
            "_compare": case(
                TRAIN, stands_in={"swarm.engine.trunk.logit_scale": lambda config: 2.0}
            ),
        },
        "swarm.train.resume": {
            "begin#2": case(f"{TRAIN} --checkpoints far", {}, a_foreign_checkpoint),
            "_survey": case(f"{TRAIN} --resume", {}, run_folder(), checkpoints_that_are_gone),
        },
    }
)

#: Places that no command line leads to, and why.
OUT_OF_REACH: Mapping[str, str] = {
    "swarm.tasks.data_files:_bytes": "the tests' user may read every file",
    "swarm.cluster.cluster:Cluster.start": "the cluster has to die right after it has answered",
    "swarm.engine.kv_cache:PromptCache.stacked": "needs a model whose layers differ in shape",
    "swarm.learn.attention:tree_attention": "no architecture of the table has such attention",
    "swarm.learn.forward:trained_logprobs": "no architecture of the table has other layers",
    "swarm.policy.targets:_blocks": "every architecture of the table has a list of layers",
    "swarm.policy.targets:check#2": "every architecture of the table has linear layers",
    "swarm.train.resume:check_owner": "another run has to take the place while this one trains",
    "swarm.train.resume:write_place": "the place has to fail right after it was tried",
    "swarm.train.resume:begin#1": "`swarm train` has refused the folder by then",
}
