"""Figures, read by their artists: what is drawn is what the results say, and nothing outside the Axes changes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from scipy.special import betainc

import bayeseval as be
from bayeseval import plots
from bayeseval.calibration.coverage import Coverage, CoverageRow
from bayeseval.calibration.ranks import Calibration
from bayeseval.plots.canvas import LOOKS, STYLE, palette, plain
from bayeseval.prompts import BetaMixture

EVIL = "a$b_{$ <script> \x1b[31m\n日" + "x" * 90


def new_ax() -> Axes:
    return Figure().subplots()


def fit(counts: be.Counts) -> Any:
    return be.fit(counts, engine="quadrature", seed=1, progress=False)


def draw(ax: Axes) -> None:
    """Draw for real; only a font that lacks a character may be complained about."""
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        FigureCanvasAgg(figure).draw()


def texts(ax: Axes) -> str:
    """All that can be read in the figure."""
    legend = ax.get_legend()
    parts = [ax.get_title(loc="left"), ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
    parts += [text.get_text() for text in ax.texts]
    parts += [label.get_text() for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]]
    parts += [text.get_text() for text in legend.get_texts()] if legend else []
    return "\n".join(parts)


@pytest.fixture(scope="module")
def aime() -> Any:
    return fit(be.example("aime24-50"))


@pytest.fixture(scope="module")
def arena() -> Any:
    return fit(be.example("matharena-aime2025"))


@pytest.fixture(scope="module")
def misfit() -> Any:
    """Three kinds of prompts, which no single Beta describes."""
    post = fit(be.Counts.from_arrays([0] * 150 + [5] * 120 + [10] * 150, 10))
    assert post.check().misfit
    return post


def a_plan(**changes: Any) -> Any:
    curve = pd.DataFrame(
        {
            "generations": [1, 2, 4, 8, 16, 32, 64],
            "width": [0.30, 0.22, 0.18, 0.15, 0.14, 0.13, 0.125],
            "width_lower": [0.28, 0.20, 0.16, 0.13, 0.12, 0.11, 0.10],
            "width_upper": [0.32, 0.24, 0.20, 0.17, 0.16, 0.15, 0.14],
            "assurance": [0.0, 0.1, 0.3, 0.6, 0.85, 0.9, 0.95],
            "assurance_mcse": [0.0] * 7,
        }
    )
    facts = {"k": 16, "floor": 0.12, "width": 0.16, "assurance": 0.8, "prob": 0.9, "estimand": "population"}
    facts |= {"measure": "width", "target": 0.16, "score": "mean"}
    facts |= {"prompts": "same", "n_prompts": 30, "rule_generations": 24, "system": EVIL, "benchmark": "b"}
    return SimpleNamespace(**{**facts, "curve": curve, "futures": 500, **changes})


def figures(aime: Any, misfit: Any) -> dict[str, Callable[[Axes | None], Axes]]:
    return {
        "score": lambda ax: aime[0].mean().plot(ax=ax),
        "scores": lambda ax: aime.plot(ax=ax),
        "prompt_distribution": lambda ax: aime[0].plot(ax=ax),
        "check": lambda ax: misfit.check().plot(ax=ax),
        "intervals": lambda ax: be.compare_intervals(aime).plot(ax=ax),
        "plan": lambda ax: plots.plot_plan(a_plan(), ax=ax),
        "assurance": lambda ax: plots.plot_assurance(a_plan(), ax=ax),
        "contrast_plan": lambda ax: be.plan_contrast(*pilots(), rope=0.02).plot(ax=ax),
        "order_plan": lambda ax: be.plan_order(pilots()).plot(ax=ax),
        "decoding": lambda ax: be.compare_decoding(*decodings()).plot(ax=ax),
        "pass_curve": lambda ax: plots.plot_pass_curve(aime[0], ax=ax),
        "calibration": lambda ax: a_calibration().plot(ax=ax),
        "coverage": lambda ax: plots.plot_coverage(a_study(), by="truth", ax=ax),
    }


def pilots() -> list[be.Counts]:
    """Two systems on the same prompts."""
    rows = {EVIL: [1, 2, 3, 4, 0], "b": [0, 1, 3, 4, 1]}
    return [be.Counts.from_arrays(correct * 20, 4, system=name) for name, correct in rows.items()]


def decodings() -> tuple[be.Counts, be.Counts]:
    """Greedy decoding and sampling."""
    return be.Counts.from_arrays([0, 0, 1, 1, 1] * 20, 1, system=EVIL), pilots()[0]


def a_calibration(shift: float = 1.0) -> Calibration:
    """Ranks of eleven quantities, of which the second is pushed down where shift is above 1."""
    ranks = np.random.default_rng(3).random((11, 200))
    ranks[1] **= shift
    names = ("mu", *(f"G-Pass@{k} (τ = 0.5), benchmark" for k in range(1, 11)))
    return Calibration("a_model", "nuts", "20 prompts × 4 generations", names, ranks, 0.02, 0.0)


def a_study() -> Coverage:
    row = CoverageRow("a$b_{$ <script>", 0.3, 0.5, 20, 4, "population", "model", 100, 0.96, 0.01, 0.03, 0.2)
    other = replace(row, truth="Beta", interval="CLT (t)", coverage=0.31)
    return Coverage((row, other, replace(other, truth="two points", coverage=0.9)))


NAMES = (
    "score",
    "scores",
    "prompt_distribution",
    "check",
    "intervals",
    "plan",
    "assurance",
    "contrast_plan",
    "order_plan",
    "decoding",
    "pass_curve",
    "calibration",
    "coverage",
)


@pytest.fixture
def settings_kept() -> Iterator[None]:
    from matplotlib import pyplot

    pyplot.switch_backend("agg")  # importing pyplot settles the backend, which is a setting too
    before = mpl.rcParams.copy()
    yield
    assert {key for key in before if before[key] != mpl.rcParams[key]} == set()


@pytest.mark.parametrize("name", NAMES)
def test_figures_draw_into_the_axes_given_and_touch_nothing_else(
    name: str, aime: Any, misfit: Any, settings_kept: None
) -> None:
    from matplotlib import pyplot

    mine, there = new_ax(), pyplot.get_fignums()
    returned = figures(aime, misfit)[name](mine)
    assert returned is mine
    assert pyplot.get_fignums() == there
    assert mine.get_xlabel()
    draw(mine)


@pytest.mark.parametrize("name", NAMES)
def test_figures_make_their_own_axes_without_showing_them(
    name: str, aime: Any, misfit: Any, settings_kept: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("a figure was shown"))
    ax = figures(aime, misfit)[name](None)
    figure = ax.get_figure()
    assert isinstance(figure, Figure) and figure.number in pyplot.get_fignums()
    draw(ax)
    box = figure.bbox
    renderer = FigureCanvasAgg(figure).get_renderer()
    ticks = [tick.label1 for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]  # those in sight
    legend = ax.get_legend()
    written = [text for text in [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label] if text.get_text()]
    for artist in [*written, *([legend] if legend else [])]:
        extent = artist.get_window_extent(renderer)
        assert extent.x0 > box.x0 - 1 and extent.x1 < box.x1 + 1, f"{artist} is cut off at a side"
        assert extent.y0 > box.y0 - 1 and extent.y1 < box.y1 + 1, f"{artist} is cut off above or below"
    pyplot.close(figure)


@pytest.mark.parametrize("name", NAMES)
def test_figures_say_kind_and_probability_of_their_intervals(name: str, aime: Any, misfit: Any) -> None:
    probability = {"plan": "90%", "assurance": "90%", "calibration": "99%", "order_plan": "± 2 mcse"}.get(name, "95%")
    assert probability in texts(figures(aime, misfit)[name](new_ax()))


def test_importing_plots_loads_no_matplotlib() -> None:
    program = "import sys, bayeseval.plots; print('matplotlib' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_names_from_outside_are_drawn_as_they_are() -> None:
    post = fit(be.Counts.from_arrays([1, 2, 3, 0], 4, system=EVIL, benchmark="$\\frac{$"))
    for ax in (post.plot(ax=new_ax()), post.mean().plot(ax=new_ax()), post.check().plot(ax=new_ax())):
        draw(ax)
    for ax in (be.compare_intervals(post).plot(ax=new_ax()), plots.plot_pass_curve(post, ax=new_ax())):
        draw(ax)
    assert "\x1b" not in plain(EVIL) and "\n" not in plain(EVIL)
    assert len(plain(EVIL, 40)) <= 40 + EVIL.count("$")


# The style ------------------------------------------------------------------------------------------------------------


def linear(colour: str) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of linear RGB."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    ratio = xyz / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira & Fernandes (2009), severity 1.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


@pytest.mark.parametrize("vision", VISION)
def test_colours_can_be_told_apart_whatever_the_vision(vision: str) -> None:
    points = [lab(np.clip(VISION[vision] @ linear(colour), 0, 1)) for colour in palette()]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(points) for b in points[:i]]
    assert min(distances) > 20


def test_palette_is_petroff6() -> None:
    assert palette() == ("#5790fc", "#f89c20", "#e42536", "#964a8b", "#9c9ca1", "#7a21dd")


def test_style_file_holds_settings_that_matplotlib_knows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings = mpl.rc_params_from_file(STYLE, use_default_template=False)
    assert settings["svg.fonttype"] == "none" and not settings["legend.frameon"]


def test_no_two_kinds_of_answers_differ_by_colour_alone() -> None:
    kinds = {(estimand, method) for estimand in ("population", "benchmark") for method in ("model", "robust")}
    assert set(LOOKS) == kinds
    assert len({marker for _, marker, _ in LOOKS.values()}) == len({number for number, *_ in LOOKS.values()}) == 4


# Scores ---------------------------------------------------------------------------------------------------------------


def test_forest_is_sorted_best_first_within_each_benchmark(arena: Any) -> None:
    ax = arena.plot(ax=new_ax())
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    expected = []
    for benchmark in ("AIME-2025-I", "AIME-2025-II"):
        own = sorted((item for item in arena if item.benchmark == benchmark), key=lambda item: -item.mean().value)
        expected += [benchmark, *(item.system for item in own)]
    assert labels == expected
    low, high = ax.get_ylim()
    assert low > high, "the first row stands on top"


def test_forest_draws_the_numbers_of_the_scores(aime: Any) -> None:
    scores = aime.scores([be.metrics.mean()])
    ax = plots.plot_scores(scores, ax=new_ax())
    lines = [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]
    points = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    answers = [answer for score in scores for answer in (score, score.other) if answer is not None]
    assert np.array(sorted(lines)) == pytest.approx(np.array(sorted((a.lower, a.upper) for a in answers)))
    assert sorted(points) == pytest.approx(sorted(a.value for a in answers))
    legend = ax.get_legend()
    assert legend is not None
    kinds = {(answer.estimand, answer.method) for answer in answers}
    assert {text.get_text() for text in legend.get_texts()} == {LOOKS[kind][2] for kind in kinds}


def test_forest_fills_the_headline_and_leaves_the_other_answer_hollow(misfit: Any) -> None:
    ax = misfit.mean().plot  # a single score has the same rule
    assert misfit.mean().method == "robust"
    forest = plots.plot_scores([misfit.mean()], ax=new_ax())
    faces = {
        line.get_marker(): to_hex(line.get_markerfacecolor()) for line in forest.lines if len(line.get_xdata()) == 1
    }
    assert faces["D"] == palette()[1] and faces["o"] == "#ffffff"
    lines = {line.get_marker(): line.get_linestyle() for line in ax(ax=new_ax()).lines}
    assert lines == {"D": "-", "o": "--"}


def test_a_robust_answer_for_these_prompts_is_drawn_too(misfit: Any) -> None:
    score = misfit.mean("benchmark", method="robust")
    assert (score.method, score.other.method) == ("robust", "model")
    for ax in (score.plot(ax=new_ax()), plots.plot_scores([score], ax=new_ax())):
        markers = [line.get_marker() for line in ax.lines if line.get_marker() not in ("None", "")]
        assert sorted(markers) == sorted(LOOKS["benchmark", method][1] for method in ("model", "robust"))
        assert LOOKS["benchmark", "robust"][2] in texts(ax)
    assert "filled marks: headline" in texts(ax)


def test_forest_says_where_there_is_no_interval(aime: Any) -> None:
    with_and_without = aime[0].scores([be.metrics.mean(), be.metrics.pass_at(1000)])
    ax = plots.plot_scores(with_and_without, ax=new_ax())
    assert [text.get_text() for text in ax.texts] == ["no interval"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["mean", "pass@1000"]
    left, right = ax.get_xlim()
    assert left <= min(s.value for s in with_and_without) and max(s.value for s in with_and_without) <= right


def test_forest_draws_the_best_of_too_many_rows_and_says_so(arena: Any) -> None:
    ax = plots.plot_scores(arena.mean(), most=6, ax=new_ax())
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    everything = [tick.get_text() for tick in arena.plot(ax=new_ax()).get_yticklabels()]
    second = everything.index("AIME-2025-II")
    assert labels == everything[:4] + everything[second : second + 4]
    assert "29 lower rows left out" in ax.get_title(loc="left")


def test_forest_gives_two_fits_of_a_run_two_rows(arena: Any) -> None:
    again = be.fit(arena[0].counts, engine="quadrature", seed=1, prior={"mu": (5, 5)}, progress=False)
    ax = plots.plot_scores([arena[0].mean(), again.mean()], ax=new_ax())
    assert {tick.get_text() for tick in ax.get_yticklabels()} == {"DeepSeek-R1", "DeepSeek-R1, fit 2"}


def test_intervals_of_many_runs_stop_at_a_size_that_can_be_drawn(arena: Any) -> None:
    ax = be.compare_intervals(arena).plot(ax=new_ax())
    assert "the first 25 of 35 runs" in texts(ax)
    assert len([text for text in ax.texts if "(population)" in text.get_text()]) == 25


def test_forest_of_nothing_is_refused() -> None:
    with pytest.raises(be.BayesevalError, match="no score"):
        plots.plot_scores([])


def test_density_of_a_score_holds_its_probability(aime: Any) -> None:
    score = aime[0].mean("benchmark")
    ax = score.plot(ax=new_ax())
    (line,) = ax.lines
    x, y = (np.asarray(values) for values in line.get_data())
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    shaded = ax.collections[0].get_paths()[0].get_extents()
    assert (shaded.x0, shaded.x1) == pytest.approx(score.interval, abs=0.02 * score.width)


def test_density_at_the_edge_loses_no_mass() -> None:
    score = fit(be.Counts.from_arrays([4] * 30, 4)).mean()
    (line,) = [line for line in score.plot(ax=new_ax()).lines if line.get_linestyle() == "-"]
    x, y = (np.asarray(values) for values in line.get_data())
    assert x.max() <= 1 and np.trapezoid(y, x) == pytest.approx(1, abs=0.02)


# The distribution over prompts ----------------------------------------------------------------------------------------


def test_prompt_distribution_shows_the_shares_seen_as_a_density(aime: Any) -> None:
    ax = aime[0].plot(ax=new_ax())
    values, edges, _ = ax.patches[0].get_data()
    assert (values * np.diff(edges)).sum() == pytest.approx(1)
    counts = aime[0].counts
    first = np.mean(counts.correct / counts.generations < edges[1])
    assert values[0] * (edges[1] - edges[0]) == pytest.approx(first)


def test_prompt_distribution_bins_hold_one_count_each_where_generations_are_few(arena: Any) -> None:
    values, edges, _ = arena[0].plot(ax=new_ax()).patches[0].get_data()
    seen = np.bincount(arena[0].counts.correct, minlength=5) / 15
    assert values * np.diff(edges) == pytest.approx(seen)


def test_prompt_distribution_stays_finite_where_its_density_does_not(aime: Any) -> None:
    ax = aime[0].plot(ax=new_ax())
    assert 0 < ax.get_ylim()[1] < 100
    (line,) = ax.lines
    assert line.get_ydata()[0] > ax.get_ylim()[1], "the density leaves the frame at 0"
    assert "of prompts\nbelow 0.05" in ax.texts[0].get_text()
    share = float(ax.texts[0].get_text().split("fit: ")[1].split("%")[0]) / 100
    mu, rho = (aime[0].parameters[name].ravel() for name in ("mu", "rho"))
    inside = betainc(mu * (1 - rho) / rho, (1 - mu) * (1 - rho) / rho, 0.05)
    assert share == pytest.approx(inside.mean(), abs=0.01)


def test_prompt_distribution_marks_point_masses(arena: Any) -> None:
    source = arena[0].distribution
    atoms = np.tile([0.2, 0.1], (source.n_draws, 1))
    mixed = BetaMixture(0.7 * source.weight, source.mu, source.rho, np.array([0.0, 1.0]), atoms)
    stand_in = SimpleNamespace(
        distribution=mixed,
        counts=arena[0].counts,
        typical_generations=4,
        model=arena[0].model,
        system="s",
        benchmark="b",
    )
    ax = plots.plot_prompt_distribution(stand_in, ax=new_ax())  # type: ignore[arg-type]
    written = [text.get_text() for text in ax.texts]
    assert "20% at exactly 0" in written and "10% at exactly 1" in written


def test_prompt_distribution_without_any_generation_is_the_prior() -> None:
    ax = fit(be.Counts.from_arrays([0, 0], [0, 0])).plot(ax=new_ax())
    draw(ax)
    (line,) = ax.lines
    assert np.isfinite(line.get_ydata()).all()


# Checks ---------------------------------------------------------------------------------------------------------------


def test_check_shows_every_count_and_the_p_value(misfit: Any) -> None:
    check = misfit.check()
    ax = check.plot(ax=new_ax())
    points = np.concatenate([np.column_stack(line.get_data()) for line in ax.lines])
    points = points[np.argsort(points[:, 0])]
    assert points[:, 1] == pytest.approx(check.histogram.observed)
    assert "does not describe the data" in texts(ax) and "p < 0.0025" in texts(ax)
    stray = [line for line in ax.lines if line.get_marker() == "X"]
    assert stray and len(stray[0].get_xdata()) == np.sum(
        (check.histogram.observed < check.histogram.lower) | (check.histogram.observed > check.histogram.upper)
    )


@pytest.mark.parametrize(
    ("sizes", "label"),
    [
        ([4], "correct of 4 generations"),
        ([2, 3, 5], "correct / generations"),
        ([2, 3, 5, 9, 12], "correct, from 0 to all, of so many generations"),
        (list(range(2, 60)), "distribution function of the model at P(correct) (uniform if the model is right)"),
    ],
)
def test_check_labels_fit_the_generations(sizes: list[int], label: str) -> None:
    rng = np.random.default_rng(1)
    generations = rng.choice(sizes, 200)
    generations[: len(sizes)] = sizes
    correct = rng.binomial(generations, rng.beta(1, 1, 200))
    ax = fit(be.Counts.from_arrays(correct, generations)).check().plot(ax=new_ax())
    assert ax.get_xlabel() == label
    assert 1 < len([tick for tick in ax.get_xticklabels() if tick.get_text()]) <= 14


# Intervals, plans, curves ---------------------------------------------------------------------------------------------


def test_intervals_are_those_of_the_comparison_and_refusals_are_words(aime: Any) -> None:
    comparison = be.compare_intervals(aime[0])
    frame = comparison.to_frame()
    ax = comparison.plot(ax=new_ax())
    given = frame.dropna(subset=["lower"])
    lines = [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]
    assert np.array(lines) == pytest.approx(given[["lower", "upper"]].to_numpy())
    refused = [text.get_text() for text in ax.texts if text.get_text().startswith("refused")]
    assert len(refused) == frame["lower"].isna().sum() == 2
    assert "prompts like these (population)" in texts(ax) and "these prompts (benchmark)" in texts(ax)


def test_plan_marks_target_floor_choice_and_rule() -> None:
    ax = plots.plot_plan(a_plan(), ax=new_ax())
    level = {line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1}
    upright = {line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1}
    assert level == {0.16, 0.12} and upright == {16, 24}
    assert "k = 16" in texts(ax) and "rule k ≥ 3r: 24" in texts(ax)
    assert ax.lines[0].get_ydata() == pytest.approx(a_plan().curve["width"])


def test_plan_without_an_answer_marks_no_number() -> None:
    ax = plots.plot_plan(a_plan(k=None, rule_generations=None, floor=0.0, estimand="benchmark"), ax=new_ax())
    assert not [line for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert "floor" not in texts(ax)


def test_plan_of_one_number_can_be_drawn() -> None:
    ax = plots.plot_plan(a_plan(curve=a_plan().curve.iloc[[4]]), ax=new_ax())
    draw(ax)
    assert [len(line.get_xdata()) for line in ax.lines if line.get_label() == "median width"] == [1]


def test_pass_curve_shades_what_is_extrapolated(arena: Any) -> None:
    ax = plots.plot_pass_curve(arena[0], ax=new_ax())
    (shade,) = ax.patches
    assert shade.get_x() == 4 and "extrapolated: k > 4" in texts(ax)
    inside = plots.plot_pass_curve(arena[0], max_k=4, ax=new_ax())
    assert not inside.patches and "extrapolated" not in texts(inside)


def test_pass_curve_meets_the_scores_and_both_curves_meet_at_one(arena: Any) -> None:
    ax = plots.plot_pass_curve(arena[0], estimand="benchmark", ax=new_ax())
    rising, falling = (dict(zip(*line.get_data(), strict=True)) for line in ax.lines)
    assert rising[4] == pytest.approx(arena[0].pass_at(4, "benchmark").value)
    assert falling[4] == pytest.approx(arena[0].pass_hat(4, "benchmark").value)
    assert rising[1] == pytest.approx(falling[1])
    assert np.all(np.diff(list(rising.values())) > 0) and np.all(np.diff(list(falling.values())) < 0)


def test_pass_curve_has_no_band_beyond_ten_times_the_generations(arena: Any) -> None:
    ax = plots.plot_pass_curve(arena[0], max_k=128, ax=new_ax())
    assert max(path.vertices[:, 0].max() for path in ax.collections[0].get_paths()) <= 40
    with pytest.raises(be.BayesevalError, match="max_k"):
        plots.plot_pass_curve(arena[0], max_k=0)
    with pytest.raises(be.BayesevalError, match="estimand"):
        plots.plot_pass_curve(arena[0], estimand="both")


def test_the_first_figure_leaves_the_session_interactive_as_its_back_end_made_it() -> None:
    import subprocess
    import sys

    program = (
        "import matplotlib\n"
        "from bayeseval.plots.canvas import style\n"
        "with style():\n"
        "    matplotlib.interactive(True)\n"  # what an inline back end does when it is first used
        "print(matplotlib.is_interactive())\n"
        "matplotlib.interactive(False)\n"
        "with style():\n"
        "    pass\n"
        "print(matplotlib.is_interactive())\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["True", "False"]


# Calibration ----------------------------------------------------------------------------------------------------------


def test_calibration_shows_each_quantity_and_marks_those_outside() -> None:
    calibration = a_calibration(shift=4.0)
    ax = calibration.plot(ax=new_ax())
    panels = ax.child_axes
    assert [panel.get_title(loc="left").endswith("✗") for panel in panels] == [False, True] + [False] * 9
    assert "1 of 11 outside" in texts(ax)
    x, y = panels[1].lines[1].get_data()
    expected = [np.mean(calibration.ranks[1] <= point) - point for point in x]
    assert y == pytest.approx(expected)
    (band,) = panels[1].collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(np.max(calibration.band.upper - calibration.band.points))
    assert heights.min() == pytest.approx(np.min(calibration.band.lower - calibration.band.points))


def test_coverage_shows_every_cell_at_its_coverage() -> None:
    study = a_study()
    ax = plots.plot_coverage(study, by="truth", ax=new_ax())
    model, clt = ax.lines[:2]
    assert list(model.get_xdata()) == [0.96]
    assert list(clt.get_xdata()) == [0.31, 0.9]
    assert [label.get_text() for label in ax.get_yticklabels()][1:] == ["Beta", "two points"]
    assert np.round(clt.get_ydata()).tolist() == [1, 2]
    with pytest.raises(be.BayesevalError, match="no cell with estimand 'benchmark'"):
        plots.plot_coverage(study, estimand="benchmark", ax=new_ax())
