import pytest
from support.planned_scores import scores
from support.plans import claim, comparison

from autoresearch.analysis.statistics import contrast, holm, tost
from autoresearch.analysis.verdicts import decide, should_stop
from autoresearch.design.looks import nominal_alpha, overall_alpha

pytestmark = pytest.mark.filterwarnings("error")

NOISE = (-0.02, -0.01, 0.0, 0.01, 0.02)
A = [0.5 + e for e in NOISE]


def around(mean, spread=1.0):
    return [mean + spread * e for e in NOISE]


def one(made, by_arm, *, look=5, looks=(5,), **kwargs):
    [verdict] = decide(made, scores(by_arm), look=look, looks=looks, **kwargs)
    return verdict


def once(direction, **kwargs):
    return comparison(claim(direction), looks=(5,), **kwargs)


@pytest.mark.parametrize(
    ("direction", "mean", "spread", "expected"),
    [  # arm a: mean 0.5, delta 0.05; se 0.01 at spread 1
        ("greater", 0.60, 1, "supported"),
        ("less", 0.40, 1, "supported"),
        ("different", 0.60, 1, "supported"),
        ("different", 0.40, 1, "supported"),
        ("greater", 0.40, 1, "refuted"),
        ("less", 0.60, 1, "refuted"),
        ("greater", 0.505, 1, "equivalent"),
        ("less", 0.505, 1, "equivalent"),
        ("different", 0.505, 1, "equivalent"),
        # the interval ends below delta but reaches beyond -delta: 0.45 is about -0.05 +- 0.06
        ("greater", 0.45, 3, "refuted"),
        ("less", 0.55, 3, "refuted"),
        ("different", 0.45, 3, "inconclusive"),
        # neither is shown
        ("greater", 0.52, 4, "inconclusive"),
        ("different", 0.50, 6, "inconclusive"),
    ],
)
def test_the_lattice(direction, mean, spread, expected):
    assert one(once(direction), {"a": A, "b": around(mean, spread)}).verdict == expected


def test_a_refuted_claim_says_what_was_excluded():
    opposite = one(once("greater"), {"a": A, "b": around(0.40)})
    excluded = one(once("greater"), {"a": A, "b": around(0.45, 3)})
    assert opposite.low < opposite.high < 0
    assert "opposite" in opposite.reason
    assert excluded.low < -0.05 < 0 < excluded.high < 0.05
    assert "min_effect" in excluded.reason


def test_a_real_but_negligible_difference_is_equivalent_not_supported():
    verdict = one(once("greater"), {"a": around(0.5, 0.1), "b": around(0.51, 0.1)})
    assert verdict.p_adjusted < 0.05
    assert verdict.verdict == "equivalent"


def test_support_says_whether_smaller_effects_remain_possible():
    sure = one(once("less"), {"a": A, "b": around(0.40)})
    unsure = one(once("less"), {"a": A, "b": around(0.44)})
    assert sure.verdict == unsure.verdict == "supported"
    assert "or more" in sure.reason
    assert "may be smaller" in unsure.reason


def test_a_verdict_carries_the_registered_statistics():
    b = around(0.52, 2)
    verdict = one(once("greater"), {"a": A, "b": b})
    known = contrast(b, A, alpha=0.05)
    assert (verdict.effect, verdict.low, verdict.high) == (known.effect, known.low, known.high)
    assert verdict.p_adjusted == pytest.approx(known.p_two_sided)
    assert verdict.p_equivalent == pytest.approx(tost(b, A, 0.05))
    assert verdict.n == {"b": 5, "a": 5}
    assert verdict.hypothesis == "b-greater-a"


def test_a_look_uses_the_first_registered_seeds_and_a_corrected_level():
    looks, late = (5, 10), [0.9] * 5
    made = comparison(claim("greater"), looks=looks)
    b = around(0.53, 2)
    verdict = one(made, {"a": A + late, "b": b + late}, look=5, looks=looks)
    known = contrast(b, A, alpha=nominal_alpha(0.05, looks))
    assert (verdict.low, verdict.high) == (known.low, known.high)
    assert verdict.p_adjusted == pytest.approx(overall_alpha(known.p_two_sided, looks))
    assert one(made, {"a": A + late, "b": b + late}, look=10, looks=looks).n == {"a": 10, "b": 10}


def test_more_looks_make_the_same_scores_less_conclusive():
    by_arm = {"a": A, "b": around(0.54, 2)}
    assert one(once("greater"), by_arm).verdict == "supported"
    looks = (5, 10, 15)
    verdict = one(comparison(claim("greater")), by_arm, look=5, looks=looks)
    assert verdict.verdict == "inconclusive"


def test_holm_counts_every_hypothesis_of_the_plan():
    made = comparison(
        claim("greater", "b"), claim("greater", "c"), claim("greater", "d"), looks=(5,)
    )
    by_arm = {"a": A, "b": around(0.54, 2), "c": around(0.53, 2), "d": around(0.60)}
    verdicts = decide(made, scores(by_arm), look=5, looks=(5,))
    raw = [contrast(by_arm[arm], A).p_two_sided for arm in "bcd"]
    assert [v.p_adjusted for v in verdicts] == pytest.approx(holm(raw))
    assert raw[0] < 0.05
    assert [v.verdict for v in verdicts] == ["inconclusive", "inconclusive", "supported"]


def test_an_untested_hypothesis_stays_in_the_family():
    made = comparison(claim("greater", "b"), claim("greater", "c"), looks=(5,))
    by_arm = {"a": A, "b": around(0.53, 2), "c": [0.9, None, None, None, None]}
    tested, untested = decide(made, scores(by_arm), look=5, looks=(5,))
    assert tested.p_adjusted == pytest.approx(2 * contrast(by_arm["b"], A).p_two_sided)
    assert (untested.verdict, untested.p_adjusted) == ("invalid", None)


def test_several_tasks_are_averaged_seed_by_seed():
    made = once("greater", tasks=("sort", "add"))
    easy, hard = around(0.9, 3), around(0.2, 1)
    both = [*scores({"a": A, "b": easy}), *scores({"a": A, "b": hard}, task="add")]
    [verdict] = decide(made, both, look=5, looks=(5,))
    means = [(x + y) / 2 for x, y in zip(easy, hard, strict=True)]
    assert verdict.effect == pytest.approx(0.05)
    assert verdict.high == pytest.approx(contrast(means, A, alpha=0.05).high)


def test_each_hypothesis_reads_the_scores_of_its_metric():
    made = comparison(claim("greater"), claim("less", metric="completions/mean_length"), looks=(5,))
    both = [
        *scores({"a": A, "b": around(0.6)}, metric="eval/acc"),
        *scores({"a": around(9), "b": around(7)}, metric="completions/mean_length"),
    ]
    accuracy, length = decide(made, both, look=5, looks=(5,))
    assert (accuracy.effect, length.effect) == (pytest.approx(0.1), pytest.approx(-2))


def test_the_paired_test_removes_what_seeds_share():
    shared = [0.1, 0.3, 0.5, 0.7, 0.9]
    by_arm = {"a": shared, "b": [s + 0.1 + e for s, e in zip(shared, NOISE, strict=True)]}
    assert one(once("greater", test="welch"), by_arm).verdict == "inconclusive"
    assert one(once("greater", test="paired"), by_arm).verdict == "supported"


def test_diverged_trials_count_with_their_floor():
    by_arm = {"a": A, "b": [0.0, 0.0, 0.0, 0.0, 0.0]}
    diverged = [s.model_copy(update={"status": "diverged"}) for s in scores(by_arm)]
    [verdict] = decide(once("less"), diverged, look=5, looks=(5,))
    assert verdict.verdict == "supported"
    assert verdict.n == {"a": 5, "b": 5}


@pytest.mark.parametrize("test", ["welch", "paired"])
def test_a_failed_seed_leaves_nothing_decided(test):
    by_arm = {"a": A, "b": [*around(0.9)[:4], None]}
    verdict = one(once("greater", test=test), by_arm)
    assert verdict.verdict == "inconclusive"
    assert "1 of 5 registered seeds of arm b" in verdict.reason
    assert verdict.effect > 0.3
    assert verdict.p_adjusted is None
    assert verdict.n["b"] == 4
    assert verdict.n["a"] == (5 if test == "welch" else 4)


def test_a_seed_that_failed_on_one_task_has_no_score():
    made = once("greater", tasks=("sort", "add"))
    both = [
        *scores({"a": A, "b": around(0.9)}),
        *scores({"a": A, "b": [None, *around(0.9)[1:]]}, task="add"),
    ]
    [verdict] = decide(made, both, look=5, looks=(5,))
    assert (verdict.verdict, verdict.n["b"]) == ("inconclusive", 4)


@pytest.mark.parametrize("b", [[0.9, None, None, None, None], [None] * 5, []])
def test_fewer_than_two_scored_seeds_are_invalid(b):
    verdict = one(once("greater"), {"a": A, "b": b})
    assert verdict.verdict == "invalid"
    assert (verdict.effect, verdict.low, verdict.high) == (None, None, None)
    assert "of 5 registered seeds of arm b" in verdict.reason


def test_two_seeds_without_a_pair_are_invalid():
    by_arm = {"a": [None, None, *A[2:]], "b": [0.9, 0.8, None, None, None]}
    assert one(once("greater", test="paired"), by_arm).verdict == "invalid"


@pytest.mark.parametrize("b", [0.5, 0.9])
def test_scores_without_spread_decide_nothing(b):
    verdict = one(once("greater"), {"a": [0.5] * 5, "b": [b] * 5})
    assert verdict.verdict == "inconclusive"
    assert verdict.effect == pytest.approx(b - 0.5)
    assert (verdict.low, verdict.high, verdict.p_adjusted) == (None, None, None)


def test_tampered_evidence_makes_every_verdict_invalid():
    made = comparison(claim("greater"), claim("less", "c"), looks=(5,))
    by_arm = {"a": A, "b": around(0.9), "c": around(0.1)}
    verdicts = decide(made, scores(by_arm), look=5, looks=(5,), invalid_reason="manifest differs")
    assert {(v.verdict, v.reason) for v in verdicts} == {("invalid", "manifest differs")}
    assert all(v.effect is None for v in verdicts)


def test_smoke_studies_decide_nothing():
    made = once("greater", profile="smoke")
    assert one(made, {"a": A, "b": around(0.9)}).verdict == "inconclusive"
    assert one(made, {"a": A, "b": around(0.5)}).verdict == "inconclusive"
    assert one(made, {"a": A, "b": [0.9]}).verdict == "invalid"


def test_other_phases_are_left_out():
    (score,) = scores({"b": [9.0]})
    tuning = score.model_copy(update={"phase": "tuning"})
    [verdict] = decide(once("greater"), [*scores({"a": A, "b": A}), tuning], look=5, looks=(5,))
    assert verdict.effect == 0.0


def test_ambiguous_or_unregistered_evidence_is_an_error():
    twice = [*scores({"a": A, "b": A}), *scores({"b": A})]
    with pytest.raises(ValueError, match="second score"):
        decide(once("greater"), twice, look=5, looks=(5,))
    with pytest.raises(ValueError, match="looks"):
        decide(once("greater"), scores({"a": A, "b": A}), look=4, looks=(5,))
    with pytest.raises(ValueError, match="looks"):
        decide(once("greater"), scores({"a": A, "b": A}), look=10, looks=(5, 10))


TWO = (claim("greater", "b"), claim("greater", "c"))


def stop_at_5(b, c):
    made = comparison(*TWO, looks=(5, 10))
    verdicts = decide(made, scores({"a": A, "b": b, "c": c}), look=5, looks=(5, 10))
    return should_stop(made, verdicts, 5, (5, 10))


def test_a_study_goes_on_while_a_hypothesis_is_undecided():
    assert stop_at_5(around(0.9), around(0.52, 4)) == (False, "undecided: c-greater-a")


def test_a_study_stops_once_every_hypothesis_has_a_verdict():
    stop, reason = stop_at_5(around(0.9), around(0.5))
    assert stop
    assert "every hypothesis" in reason


def test_a_study_stops_at_the_last_look():
    made = comparison(*TWO, looks=(5,))
    by_arm = {"a": A, "b": around(0.52, 4), "c": around(0.52, 4)}
    verdicts = decide(made, scores(by_arm), look=5, looks=(5,))
    stop, reason = should_stop(made, verdicts, 5, (5,))
    assert stop
    assert "last" in reason


def test_a_study_stops_where_failed_seeds_keep_every_later_look_undecided():
    failed = [*around(0.9)[:4], None]
    assert stop_at_5(failed, around(0.9))[0]
    assert not stop_at_5(failed, around(0.52, 4))[0]
