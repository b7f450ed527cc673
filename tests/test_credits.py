"""Partial credit: what a credit may be, levels, thresholds, the sums that models need, and moments of credits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.errors import DataError, OptionError
from bayeseval.estimators import moments
from bayeseval.estimators.credit import credit_moments
from bayeseval.estimators.variance import clustered_se
from bayeseval.outcomes import Outcomes

TABLE = {
    "model_name": ["a"] * 6,
    "dataset": ["essays"] * 6,
    "doc_id": [1, 1, 1, 2, 2, 3],
    "epoch": [1, 2, 3, 1, 2, 1],
    "score": [0.5, 0.0, None, 1.0, 1.0, None],
    "is_correct": [False, False, None, True, True, None],
    "subject": ["x", "x", "x", "x", "x", "y"],
}
NAN = float("nan")
LEVELS = (0.0, 0.5, 1.0)


def frame(**changes: object) -> pd.DataFrame:
    return pd.DataFrame({**TABLE, **changes})


def credits(**changes: object) -> Credits:
    return Credits.from_frame(frame(**changes), quiet=True)


def graded(values: object, **options: object) -> list[float]:
    rows = pd.DataFrame({"id": range(len(values)), "credit": values})  # type: ignore[arg-type]
    return Credits.from_frame(rows, generation=False, quiet=True, **options).credit.tolist()  # type: ignore[arg-type]


CELLS = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])
MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=8)
)


# What a credit may be


@pytest.mark.parametrize(
    "values",
    [
        [1, 0, 0.5],
        ["1", "0", "0.5"],
        [True, 0, 0.5],
        ["C", "I", "P"],
        ["pass", "fail", 0.5],
        np.array([1, 0, 0.5], dtype=np.float32),
    ],
)
def test_credits_have_the_spellings_of_scores(values: object) -> None:
    assert graded(values) == [1.0, 0.0, 0.5]


def test_single_precision_means_the_decimal_number() -> None:
    assert graded(np.array([0.7, 0.1], dtype=np.float32)) == [0.7, 0.1]
    assert graded(np.array([0.7, 0.1], dtype=np.float32), levels=(0.1, 0.7)) == [0.7, 0.1]


@pytest.mark.parametrize("nothing", [None, "", "N", "nan", NAN, pd.NA])
def test_missing_is_not_zero(nothing: object) -> None:
    read = graded(pd.Series([1, 0, nothing], dtype=object))
    assert read[:2] == [1.0, 0.0]
    assert np.isnan(read[2])
    assert np.isnan(graded(pd.Series([1, 0, nothing], dtype=object), levels=(0, 1))[2])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 7.5, 10], r"row 1 .*prompt '1'.* is 7\.5, outside .*; 2 such rows.*maximum \(the largest one here is 10"),
        ([1, -0.5], r"row 1 .* is -0\.5, outside.*shift the scale"),
        ([1, "maybe"], r"row 1 .*'maybe', which cannot be read"),
        ([1, float("inf")], r"row 1 .*which cannot be read"),
    ],
)  # fmt: skip
def test_other_credits_are_refused_with_row_and_value(values: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        graded(pd.Series(values, dtype=object))


def test_a_credit_that_is_no_level_is_refused_with_row_and_value() -> None:
    with pytest.raises(DataError, match=r"row 2 .*prompt '2'.* is 0\.25, which is none of the levels 0, 0\.5, 1:"):
        graded([0, 0.5, 0.25], levels=LEVELS)
    with pytest.raises(DataError, match=r"the matrix, prompt '1', generation 0: .* 0\.25"):
        Credits.from_matrix([[0, 1], [0.25, 1]], levels=LEVELS)


def test_rounding_does_not_make_another_level() -> None:
    assert graded([0.1 * 3, 1 / 3 + 1e-12], levels=(0.3, 1 / 3)) == [0.3, 1 / 3]


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ((0, 1, 0.5), r"0\.5 stands after 1: are the categories out of order"),
        ((0, 0.5, 0.5, 1), r"0\.5 is given twice"),
        ((1,), "at least two"),
        ((), "at least two"),
        ((0, 5, 10), r"lie in \[0, 1\], but 5 was given: divide"),
        ((-1, 1), r"but -1 was given"),
        ((0, NAN, 1), r"but nan was given"),
        ("none", "must be numbers"),
        (0.5, "must be numbers"),
    ],
)
def test_bad_levels_are_refused(levels: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        graded([0, 1], levels=levels)
    with pytest.raises(OptionError, match=message):
        Credits.from_matrix([[0, 1]], levels=levels)  # type: ignore[arg-type]


# Columns, and what credits share with outcomes


def test_the_column_of_credits_is_guessed_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    made = Credits.from_frame(frame())
    assert made.credit[[0, 1, 3, 4]].tolist() == [0.5, 0, 1, 1]
    assert made.generation.tolist() == TABLE["epoch"]
    assert made.group is not None
    said = capsys.readouterr().err
    assert "credit = 'score'" in said
    assert "not used: 'is_correct'" in said


def test_two_columns_of_credits_must_agree() -> None:
    with pytest.raises(DataError, match=r"both 'credit' and 'score'.*row 3 .*credit='score'"):
        credits(credit=[0.5, 0.0, None, 0.5, 1.0, None])
    assert credits(credit=TABLE["score"]) == credits()
    with pytest.raises(DataError, match="several columns .*'score', 'reward'; say which with credit="):
        credits(reward=[5] * 6)


def test_every_kind_of_frame_gives_the_same_credits() -> None:
    kinds = [frame(), pl.DataFrame(TABLE), pl.DataFrame(TABLE).lazy(), pa.table(TABLE)]
    assert len({Credits.from_frame(kind, quiet=True).fingerprint for kind in kinds}) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": [1, 1, 2, 1, 2, 1]}, r"rows 0 and 1 .*prompt '1', generation 1"),
        ({"doc_id": [1, 1, 1, 2, 2, None]}, r"row 5 .*has no prompt id"),
        ({"subject": ["x", "y", "x", "x", "x", "y"]}, r"rows 0 and 1 .*into the groups 'x' and 'y'"),
    ],
)
def test_bad_columns_are_refused_with_rows(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        credits(**changes)


def test_missing_columns_and_rows_are_told() -> None:
    with pytest.raises(DataError, match="no column for credit: it has 'id', 'mark'; looked for credit, .*score"):
        Credits.from_frame(pd.DataFrame({"id": [1], "mark": [1]}))
    with pytest.raises(DataError, match="has no rows"):
        Credits.from_frame(frame().iloc[:0])
    with pytest.raises(DataError, match="no generations were given"):
        Credits("a", "b", [], [], [])  # type: ignore[arg-type]
    harness = pd.DataFrame({"doc_id": [1], "resps": ["x"], "score": [0.5]})
    with pytest.raises(DataError, match=r"prompt_id, generation, credit\), or name credit="):
        Credits.from_frame(harness)


def test_without_a_generation_column_rows_are_numbered_in_order_and_that_is_said() -> None:
    made = Credits.from_frame(frame().drop(columns="epoch"), quiet=True)
    assert made.generation.tolist() == [0, 1, 2, 0, 1, 0]
    assert any("no column numbers the generations" in line for line in made.account)


@settings(deadline=None)
@given(MATRICES)
def test_frames_runs_and_parts_round_trip(cells: list[list[float]]) -> None:
    made = Credits.from_matrix([cells, cells], system=["a", "b"], levels=(0, 0.25, 0.5, 1))
    again = Credits.from_frame(made.to_frame(), levels=made.levels, quiet=True)
    assert again == made
    assert Credits.concat(made.runs()) == made
    assert made.select(system="b").levels == made.levels
    assert made.select(system="b") != Credits.from_matrix(cells, system="b")  # levels are content
    by_hand = Credits(made.system, made.benchmark, made.prompt, made.generation, made.credit, levels=made.levels)
    assert by_hand == made
    assert by_hand.n_unscored == int(np.isnan(made.credit).sum())


def test_parts_of_different_levels_are_not_joined() -> None:
    one, other = Credits.from_matrix([[0, 1]], system="a"), Credits.from_matrix([[0, 1]], system="b", levels=(0, 1))
    with pytest.raises(DataError, match=r"part 1 has levels None, but part 2 has \(0\.0, 1\.0\): declare the same"):
        Credits.concat([one, other])
    with pytest.raises(DataError, match=r"row 0 of part 1 .*row 0 of part 2"):
        Credits.concat([one, one])


def test_repr_is_a_sentence_and_html_is_escaped() -> None:
    made = Credits.from_frame(frame(), levels=LEVELS, quiet=True)
    assert repr(made) == (
        "Credits: a on essays, 3 prompts, 4 generations, between 0 and 2 to each prompt, 2 more not scored, "
        "levels 0, 0.5, 1"
    )
    html = credits(model_name=["<i>a</i>"] * 6)._repr_html_()
    assert "<i>" not in html
    assert "&lt;i&gt;" in html
    assert "0.625" in html  # prompts weigh the same: the mean of 0.25 and 1
    with pytest.raises(ValueError, match="read-only"):
        made.credit[0] = 0


# Levels, thresholds, outcomes


@settings(deadline=None)
@given(MATRICES)
def test_levels_are_counted_as_by_hand(cells: list[list[float]]) -> None:
    levels = (0.0, 0.25, 0.5, 0.75, 1.0)
    made = Credits.from_matrix(cells, levels=levels).level_counts()
    assert made.counts.tolist() == [[row.count(level) for level in levels] for row in cells]
    assert made.prompt.tolist() == [str(i) for i in range(len(cells))]
    assert made.to_frame()["0.75"].tolist() == [0] * len(cells)


def test_levels_that_occur_serve_where_none_are_declared() -> None:
    made = Credits.from_matrix([[1, 0.5, 0.5], [0, 1, None]])
    assert made.level_counts().levels == LEVELS
    assert made.level_counts().counts.tolist() == [[0, 2, 1], [1, 0, 1]]
    assert made.with_levels() == made.with_levels(LEVELS) != made
    many = Credits.from_matrix([np.linspace(0, 1, 21)])
    for ask in (many.level_counts, many.with_levels):
        with pytest.raises(DataError, match=r"21 different credits occur, too many .*levels=.*tables"):
            ask()
    assert len(Credits.from_matrix([np.linspace(0, 1, 20)]).level_counts().levels) == 20
    with pytest.raises(DataError, match=r"row 1 of the credits .*0\.5"):
        made.with_levels((0, 1))


def test_levels_that_occur_are_one_within_rounding() -> None:
    made = Credits.from_matrix([[0.3, 0.1 * 3, 0], [1, 1, 0.3]])
    assert 0.3 < 0.1 * 3
    assert made.level_counts().counts.tolist() == [[1, 2, 0], [0, 1, 2]]
    assert made.with_levels().levels == (0, 0.3, 1)
    assert Credits.from_matrix([[1, 1], [1, None]]).level_counts().counts.tolist() == [[2], [1]]


def test_tables_are_escaped_in_html() -> None:
    made = credits(doc_id=["<i>", "<i>", "<i>", "b", "b", "c"])
    for shown in (made.level_counts()._repr_html_(), made.tables()[0]._repr_html_()):
        assert "<i>" not in shown
        assert "&lt;i&gt;" in shown


def test_a_threshold_makes_outcomes_and_is_said() -> None:
    made = credits()
    half, full = made.outcomes(0.5), made.outcomes(threshold=1)
    assert half.counts().correct.tolist() == [1, 2, 0]
    assert full.counts().correct.tolist() == [0, 2, 0]
    assert full.counts().generations.tolist() == [2, 2, 0]
    assert half.account[-1] == "credits of at least 0.5 count as correct"
    assert half == Outcomes.from_frame(frame().drop(columns="is_correct"), threshold=0.5, quiet=True)


@pytest.mark.parametrize("threshold", [None, 0, -1, 1.5, NAN, "0.5", True])
def test_thresholds_outside_the_scale_are_refused(threshold: object) -> None:
    with pytest.raises(OptionError, match="threshold must"):
        credits().outcomes(threshold)  # type: ignore[arg-type]


def test_a_computed_threshold_meets_its_level() -> None:
    made = Credits.from_matrix([[0.3, 1]], levels=(0.3, 1))
    assert 0.1 * 3 > 0.3
    assert made.outcomes(0.1 * 3).correct.tolist() == [1, 1]


def test_halves_are_not_one_success() -> None:
    """Two credits of a half: no full success, mean a half (olmo-eval #338)."""
    made = Credits.from_matrix([[0.5, 0.5]])
    assert made.outcomes(threshold=1).counts().correct.tolist() == [0]
    assert credit_moments(made).rows[0].mean == 0.5


def test_outcomes_give_their_scores_back() -> None:
    made = credits()
    back = Credits.from_outcomes(made.outcomes(0.5))
    assert back == made
    assert back.account[-1] == "credits are the scores themselves, before any threshold"
    with pytest.raises(DataError, match=r"kept no scores.*Credits\.from_frame"):
        Credits.from_outcomes(Outcomes.from_matrix([[1, 0]]))
    with pytest.raises(DataError, match=r"row 1 of the outcomes .*prompt '0': the score is 7.*divide by the maximum"):
        Credits.from_outcomes(Outcomes.from_matrix([[0, 7]], threshold=5))
    with pytest.raises(DataError, match="outcomes were expected, but Counts"):
        Credits.from_outcomes(Counts.from_arrays([1], [2]))  # type: ignore[arg-type]


def test_the_refusal_of_partial_credit_names_the_way_out() -> None:
    rows = frame().drop(columns="is_correct")
    with pytest.raises(DataError, match=r"neither 0 nor 1.*threshold=.*keep the partial credit with be\.Credits"):
        Outcomes.from_frame(rows, quiet=True)
    with pytest.raises(DataError, match=r"neither 0 nor 1") as refusal:
        Outcomes.from_frame(rows.assign(score=[0, 7, None, 1, 1, None]), quiet=True)
    assert "Credits" not in str(refusal.value)  # points are no credits yet


# Sums over generations


@settings(deadline=None)
@given(MATRICES)
def test_tables_hold_the_sums_of_each_prompt(cells: list[list[float]]) -> None:
    table = Credits.from_matrix(cells, levels=(0, 0.25, 0.5, 1)).tables()[0]
    assert table.counts is not None
    for place, row in enumerate(cells):
        known = np.array([y for y in row if y == y])
        inside = known[(known > 0) & (known < 1)]
        assert table.generations[place] == table.counts[place].sum() == known.size
        assert (table.zeros[place], table.interior[place]) == ((known == 0).sum(), inside.size)
        assert table.ones[place] == (known == 1).sum()
        assert table.total[place] == pytest.approx(known.sum())
        assert table.squares[place] == pytest.approx((known**2).sum())
        assert table.log_credit[place] == pytest.approx(np.log(inside).sum())
        assert table.log_rest[place] == pytest.approx(np.log(1 - inside).sum())
        assert table.interior_mean[place] == pytest.approx(inside.mean() if inside.size else NAN, nan_ok=True)
        assert table.variance[place] == pytest.approx(known.var(ddof=1) if known.size > 1 else NAN, nan_ok=True)
    assert len(table.to_frame()) == len(cells)


def test_equal_credits_have_no_variance_at_all() -> None:
    table = Credits.from_matrix([[0.1] * 7, [1 / 3] * 7]).tables()[0]
    assert table.variance.tolist() == [0, 0]


def test_tables_number_the_groups() -> None:
    rows = pd.DataFrame({"id": list("abca"), "score": [0.5, 1, 0, 0], "group": list("yxyy")})
    table = Credits.from_frame(rows, quiet=True).tables()[0]
    assert table.prompt.tolist() == ["a", "b", "c"]
    assert table.groups == ("y", "x")
    assert table.group is not None
    assert table.group.tolist() == [0, 1, 0]
    assert table.to_frame()["group"].tolist() == ["y", "x", "y"]


# Moments


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=4, max_size=4), min_size=1, max_size=40).filter(
        lambda cells: any(y == y for row in cells for y in row)
    )
)
def test_credits_of_0_and_1_have_the_moments_of_counts(cells: list[list[float]]) -> None:
    expected = moments(Counts.from_matrix(cells)).to_frame()
    found = credit_moments(Credits.from_matrix(cells)).to_frame()
    reasons = ["reason_benchmark"]  # the same refusals, and words for credits
    pd.testing.assert_frame_equal(found[expected.columns].drop(columns=reasons), expected.drop(columns=reasons),
                                  check_exact=True)  # fmt: skip
    assert (found["reason_benchmark"] == "").tolist() == (expected["reason_benchmark"] == "").tolist()
    assert found["dispersion"].isna().all() or found["dispersion"][0] == pytest.approx(1, rel=1e-12)


def test_moments_equal_exact_fractions() -> None:
    cells = [["1/2", "1", "1/4"], ["0", "0"], ["1", "1/2", "1", "0"], ["3/4"]]
    rows = [[Fraction(y) for y in row] for row in cells]
    means = [sum(row) / len(row) for row in rows]
    mean = sum(means) / 4
    several = [row for row in rows if len(row) > 1]
    variance = [sum((y - sum(row) / len(row)) ** 2 for y in row) / (len(row) - 1) for row in several]
    pooled = sum(v * (len(row) - 1) for v, row in zip(variance, several, strict=True)) / sum(
        len(row) - 1 for row in several
    )
    noise = sum(v / len(row) for v, row in zip(variance, several, strict=True)) + pooled
    total = sum((x - mean) ** 2 for x in means) / 3
    row = credit_moments(Credits.from_matrix([[float(y) for y in values] for values in rows])).rows[0]
    expected = {
        "mean": mean,
        "total_var": total,
        "within_part": noise / 4,
        "sigma2": total - noise / 4,
        "se_population": math.sqrt(total / 4),
        "se_benchmark": math.sqrt(noise) / 4,
    }
    for name, value in expected.items():
        assert getattr(row, name) == pytest.approx(float(value), rel=1e-12), name


def test_components_are_unbiased_given_the_prompts() -> None:
    laws = [(0.5, 0.3, 0.2), (0.1, 0.2, 0.7)]  # P(credit 0, 1/2, 1) of two prompts with 2 and 3 generations
    credit = np.array(LEVELS)
    mean = [np.dot(law, credit) for law in laws]
    noise = [np.dot(law, credit**2) - m**2 for law, m in zip(laws, mean, strict=True)]
    sums = np.zeros(2)
    for levels in product(range(3), repeat=5):
        mass = math.prod(laws[int(place > 1)][level] for place, level in enumerate(levels))
        values = credit[list(levels)].tolist()
        row = credit_moments(Credits.from_matrix([[*values[:2], None], values[2:]])).rows[0]
        sums += mass * np.array([row.sigma2, row.se_benchmark**2])
    assert sums[0] == pytest.approx(np.var(mean, ddof=1), rel=1e-10)
    assert sums[1] == pytest.approx((noise[0] / 2 + noise[1] / 3) / 4, rel=1e-10)


@settings(deadline=None)
@given(MATRICES)
def test_dispersion_compares_with_0_and_1(cells: list[list[float]]) -> None:
    """The corrected denominator is the variance within prompts plus the mean of y (1 - y): at most 1."""
    rows = [np.array([y for y in row if y == y]) for row in cells]
    rows = [row for row in rows if row.size > 1]
    if not rows:
        return
    found = credit_moments(Credits.from_matrix(cells)).rows[0].dispersion
    within = sum(row.var(ddof=1) for row in rows)
    whole = within + sum(np.mean(row * (1 - row)) for row in rows)
    assert found == pytest.approx(within / whole if whole > 0 else NAN, nan_ok=True)


def test_dispersion_and_the_plug_in_factor_agree_for_many_generations() -> None:
    cells = np.random.default_rng(3).beta(2, 2, (50, 4000))
    row = credit_moments(Credits.from_matrix(cells)).rows[0]
    p = cells.mean(axis=1)
    plug_in = cells.var(axis=1, ddof=1).sum() / (p * (1 - p)).sum()
    assert row.dispersion == pytest.approx(plug_in / (1 + plug_in / 4000), rel=1e-10)
    assert row.dispersion == pytest.approx(0.2, abs=0.005)  # variance of Beta(2, 2) over that of a coin: 0.05 / 0.25


def test_moments_change_sides_with_credit_and_its_complement() -> None:
    cells = np.random.default_rng(1).choice([0, 0.25, 0.5, 1], (30, 3))
    one, other = (credit_moments(Credits.from_matrix(y)).rows[0] for y in (cells, 1 - cells))
    assert other.mean == pytest.approx(1 - one.mean)
    for name in ("sigma2", "rho", "se_population", "se_benchmark", "dispersion"):
        assert getattr(other, name) == pytest.approx(getattr(one, name)), name


def test_groups_give_a_clustered_error() -> None:
    rows = pd.DataFrame({"id": list("abcd"), "score": [1, 1, 0, 0], "group": list("aabb")})
    row = credit_moments(Credits.from_frame(rows, quiet=True)).rows[0]
    assert (row.groups, row.se_clustered) == (2, pytest.approx(0.5))
    assert row.se_population == pytest.approx(0.288675, abs=5e-7)
    own = credit_moments(Credits.from_frame(rows.assign(group=list("abcd")), quiet=True)).rows[0]
    assert own.se_clustered == pytest.approx(own.se_population)
    alone = credit_moments(Credits.from_frame(rows.assign(group="a"), quiet=True)).rows[0]
    assert math.isnan(alone.se_clustered)
    assert alone.reason_clustered == "there is one group alone"
    none = credit_moments(Credits.from_frame(rows.drop(columns="group"), quiet=True)).rows[0]
    assert (none.groups, none.reason_clustered) == (0, "groups are not known")


def test_what_would_be_refused_for_0_and_1_is_refused_on_any_scale() -> None:
    rare = np.zeros((40, 1))
    rare[:4] = 1
    assert credit_moments(Credits.from_matrix(rare)).rows[0].reason_population.startswith("n·min(mean")
    shrunk = credit_moments(Credits.from_matrix(0.4 + 0.2 * rare)).rows[0]
    assert shrunk.reason_population.startswith("n·min(m, 1 − m) = 4 is below 10, too near 0.4 or 0.6")
    rare[:12] = 1
    assert credit_moments(Credits.from_matrix(0.4 + 0.2 * rare)).rows[0].reason_population == ""
    flat = credit_moments(Credits.from_matrix([[0.5, 0.5]] * 40)).rows[0]
    assert flat.reason_population == "every generation was given 0.5"


def test_noise_of_two_prompts_is_no_noise_of_forty() -> None:
    cells = np.full((40, 2), 0.5) + np.array([0, 1e-3])
    even = credit_moments(Credits.from_matrix(cells)).rows[0]
    assert even.reason_benchmark == ""
    cells[:2] = [0, 1]
    uneven = credit_moments(Credits.from_matrix(cells)).rows[0]
    assert uneven.reason_benchmark.startswith(
        "the credits of few prompts make nearly all of the noise, in effect 2 of 40"
    )


def test_intervals_cover_as_often_as_they_say() -> None:
    """Credits of four levels with prompts of their own: both intervals at 90%, within binomial error of 400 repeats."""
    rng, size, repeats = np.random.default_rng(11), 60, 400
    levels = np.array([0, 0.3, 0.8, 1.0])
    inside = np.zeros(2)
    for _ in range(repeats):
        law = rng.dirichlet([1.0, 0.8, 0.6, 1.2], size)
        cells = np.stack([rng.choice(levels, 5, p=p) for p in law])
        row = credit_moments(Credits.from_matrix(cells), prob=0.9).rows[0]
        inside += [
            row.lower_population <= np.dot([1.0, 0.8, 0.6, 1.2], levels) / 3.6 <= row.upper_population,
            row.lower_benchmark <= (law @ levels).mean() <= row.upper_benchmark,
        ]
    np.testing.assert_allclose(inside / repeats, 0.9, atol=4 * math.sqrt(0.09 / repeats))


def test_unscored_generations_are_set_aside_and_empty_prompts_left_out() -> None:
    result = credit_moments(credits())
    row = result.rows[0]
    assert (row.n_prompts, row.n_generations, row.prompts_without_generations) == (2, 4, 1)
    assert row.mean == pytest.approx((0.25 + 1) / 2)
    assert any("1 of 3 prompts" in note for note in result.notes)
    with pytest.raises(DataError, match="no scored generation on any of its 1 prompts"):
        credit_moments(Credits.from_matrix([[None, None]]))


def test_the_wrong_kind_of_data_is_told_where_to_go() -> None:
    with pytest.raises(DataError, match=r"credit_moments needs Credits, but Counts was given.*be\.moments"):
        credit_moments(Counts.from_arrays([1], [2]))  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"moments needs Counts or Outcomes, but Credits.*be\.credit_moments"):
        moments(credits())  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="prob"):
        credit_moments(credits(), prob=95)


def test_credit_moments_speak() -> None:
    result = credit_moments(Credits.concat([credits(), credits(model_name=["<b>"] * 6)]))
    assert "times as much as 0 and 1 would" in repr(result)
    html = result._repr_html_()
    assert "dispersion" in html
    assert "<b>" not in html
    assert {"system", "mean", "sigma2", "se_clustered", "dispersion"} <= set(result.to_frame().columns)


# Real data


def test_reasoning_gym_scores_are_reproduced(shared: Path) -> None:
    folder = shared / "data" / "reasoning-gym-easy"
    rows = pd.read_csv(folder / "outcomes.csv.gz")
    rows["group"] = rows["prompt_id"].str.split("/").str[0]
    summary = pd.read_csv(folder / "summary.csv").set_index("model")
    made = Credits.from_frame(rows, quiet=True)
    assert made.n_generations == len(rows) == 141_100
    found = credit_moments(made).to_frame().set_index("system")
    np.testing.assert_allclose(found["mean"], summary["mean_score"].loc[found.index], atol=6e-9)
    # the task means as their source published them; every task has as many prompts
    tasks = pd.read_csv(folder / "reference_task_scores.csv").groupby("model")["average_mean_score"]
    np.testing.assert_array_equal(found["groups"], tasks.size().loc[found.index])
    np.testing.assert_allclose(found["mean"], tasks.mean().loc[found.index], atol=5e-5)
    np.testing.assert_allclose(found["se_clustered"], (tasks.std() / np.sqrt(tasks.size())).loc[found.index], atol=5e-5)
    # the summary's clustered error is that of full marks
    full = credit_moments(Credits.from_frame(rows, credit="correct", quiet=True)).to_frame().set_index("system")
    expected = summary.loc[full.index]
    np.testing.assert_allclose(full["se_clustered"], expected["se_mu_clustered_by_task"], atol=6e-9)
    np.testing.assert_allclose(full["sigma2"], expected["between_part"], atol=6e-9)
    scored = made.outcomes(threshold=1).counts()
    strict = Outcomes.from_frame(rows, correct="correct", quiet=True).counts()
    assert scored == strict


def test_clustered_error_of_one_task_a_prompt_is_plain() -> None:
    means = [0.2, 0.9, 0.4, 0.4]
    rows = pd.DataFrame({"id": range(4), "credit": means, "group": list("abcd")})
    row = credit_moments(Credits.from_frame(rows, quiet=True)).rows[0]
    assert row.se_clustered == clustered_se(means, "abcd") == pytest.approx(row.se_population)
