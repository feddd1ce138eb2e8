"""Asking and judging, with an engine that answers by the book."""

from collections.abc import Sequence

from swarm import tasks
from swarm.config.parts import SamplingSettings, TaskSettings
from swarm.dataflow.rollout import roll_out
from swarm.models.ends import Ends
from swarm.models.tokenizer import build_tokenizer
from swarm.records import Completion, SampleRequest, StopReason
from swarm.tasks import Problem

TOKENIZER = build_tokenizer()
ENDS = Ends(frozenset({TOKENIZER.eos_token_id}), TOKENIZER.eos_token_id, TOKENIZER.pad_token_id)
PROBLEMS = [Problem("R:abcd>", "dcba", 4), Problem("R:xy>", "yx", 2)]


class Scribe:
    """Answers each request's members with the given texts and an end-of-sequence token."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.asked: list[SampleRequest] = []

    def sample(self, requests: Sequence[SampleRequest]) -> list[list[Completion]]:
        self.asked += requests
        answers = [
            (*TOKENIZER.encode(text, add_special_tokens=False), TOKENIZER.eos_token_id)
            for text in self.texts
        ]
        completions = [Completion(a, (-1.0,) * len(a), StopReason.STOP) for a in answers]
        return [completions for _ in requests]


def rolled_out(engine: Scribe, seed: int = 0, problems: Sequence[Problem] = tuple(PROBLEMS)):
    return roll_out(
        engine,
        TOKENIZER,
        tasks.load(TaskSettings(reward="partial")),
        problems,
        ends=ENDS,
        members=3,
        sampling=SamplingSettings(temperature=0.7, max_tokens=9),
        seed_parts=(seed, "rollout", 5),
        version=4,
    )


def test_answers_are_judged_without_their_stop_token() -> None:
    groups = rolled_out(Scribe("dcba", "dcbx", "yx"))
    assert [[e.text for e in g.episodes] for g in groups] == [["dcba", "dcbx", "yx"]] * 2
    assert [e.reward for e in groups[0].episodes] == [1.0, 0.75, 0.0]
    assert [e.correct for e in groups[1].episodes] == [False, False, True]
    assert groups[0].episodes[0].completion.tokens[-1] == TOKENIZER.eos_token_id
    assert {e.version for g in groups for e in g.episodes} == {4}


def test_requests_carry_the_prompts_tokens_and_the_sampling_law() -> None:
    engine = Scribe("a", "b", "c")
    groups = rolled_out(engine)
    for problem, group, request in zip(PROBLEMS, groups, engine.asked, strict=True):
        assert TOKENIZER.decode(request.prompt) == problem.prompt == group.text
        assert group.prompt == request.prompt
        assert (request.temperature, request.max_tokens) == (0.7, 9)


def test_every_member_of_every_group_has_its_own_seed() -> None:
    """And keeps it in a re-run, whatever else is asked beside it."""
    first, again, fewer, other = Scribe(*"abc"), Scribe(*"abc"), Scribe(*"abc"), Scribe(*"abc")
    rolled_out(first)
    rolled_out(again)
    rolled_out(fewer, problems=PROBLEMS[:1])
    rolled_out(other, seed=1)
    seeds = [seed for request in first.asked for seed in request.seeds]
    assert len(set(seeds)) == 6
    assert first.asked == again.asked
    assert fewer.asked == first.asked[:1]
    assert not set(seeds) & {seed for request in other.asked for seed in request.seeds}
