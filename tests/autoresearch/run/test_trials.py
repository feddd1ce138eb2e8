"""Which trials each phase asks for."""

from support.synthetic_study import CONTROL, Shape, make_plan

from autoresearch.run import trials

STUDY, REGISTRATION = "s", "r" * 64


def test_phases_use_their_own_seeds_and_all_ids_differ():
    plan = make_plan(Shape(tasks=("reverse", "sort")))
    pilot = trials.pilot(STUDY, REGISTRATION, plan)
    tuned = trials.tuning(STUDY, REGISTRATION, plan, "optim.lr", 2e-3, "candidate-1")
    confirm = trials.confirmation(STUDY, REGISTRATION, plan, 5, {"optim.lr": 2e-3})
    assert [len(phase) for phase in (pilot, tuned, confirm)] == [3 * 2, 2 * 2, 5 * 2 * 2]
    assert {t.arm for t in pilot} == {CONTROL}
    assert {t.seed for t in pilot}.isdisjoint({t.seed for t in tuned} | {t.seed for t in confirm})
    ids = [t.id for t in (*pilot, *tuned, *confirm)]
    assert len(set(ids)) == len(ids)


def test_candidates_differ_in_the_tuned_value_only():
    plan = make_plan(Shape())
    one = trials.tuning(STUDY, REGISTRATION, plan, "optim.lr", 2e-3, "candidate-1")
    two = trials.tuning(STUDY, REGISTRATION, plan, "optim.lr", 4e-3, "candidate-2")
    for a, b in zip(one, two, strict=True):
        assert a.config.optim.lr == 2e-3
        assert a.config.with_values({"optim.lr": 4e-3}) == b.config
        assert a.id != b.id


def test_a_later_look_begins_with_the_trials_of_the_earlier_one():
    plan = make_plan(Shape())
    three = trials.confirmation(STUDY, REGISTRATION, plan, 3, {})
    five = trials.confirmation(STUDY, REGISTRATION, plan, 5, {})
    assert [t.id for t in five[: len(three)]] == [t.id for t in three]


def test_equal_input_gives_equal_ids():
    plan = make_plan(Shape())
    again = type(plan).model_validate_json(plan.model_dump_json())
    assert [t.id for t in trials.pilot(STUDY, REGISTRATION, plan)] == [
        t.id for t in trials.pilot(STUDY, REGISTRATION, again)
    ]
