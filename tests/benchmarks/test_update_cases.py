from benchmarks.update_cases import Case, bound, cases, forked_work, groups_of, trl_work


def test_work_is_counted_by_hand():
    case = Case("hand", prompt=3, lengths=(2, 1), group_size=2)
    theirs, ours = trl_work(case), forked_work(case)
    assert (theirs.tokens, theirs.head_rows, theirs.pairs) == (2 * 5, 2 * 4, 2 * 15)
    assert trl_work(case, "completion rows").head_rows == 2 * 2
    # the prompt's 6 pairs once, then tokens that see 4 and 5, and one that sees 4
    assert (ours.tokens, ours.head_rows, ours.pairs) == (3 + 3, 3, 6 + 9 + 4)


def test_natural_lengths_are_ragged_as_promised():
    lengths = cases()["natural"].lengths
    assert abs(sum(lengths) / len(lengths) - 100) < 1
    assert max(lengths) >= 2 * sum(lengths) / len(lengths)


def test_a_bound_needs_something_to_share():
    alone = Case("alone", prompt=20, lengths=(100, 100), group_size=1)
    assert 1 < bound(alone, "completion rows") < 1.2
    assert bound(cases()["p600"]) > bound(cases()["p200"]) > bound(cases()["short"]) > 1


def test_batches_are_what_a_case_says():
    for case in cases().values():
        groups = groups_of(case)
        assert [len(g.prompt) for g in groups] == [case.prompt] * case.groups
        lengths = [len(e.completion.tokens) for g in groups for e in g.episodes]
        assert tuple(lengths) == case.lengths
        assert groups == groups_of(case)
