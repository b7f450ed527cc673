"""What all figures share: the style, the Axes to draw into, and text that may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "LOOKS",
    "STYLE",
    "canvas",
    "colour",
    "finite",
    "interval_words",
    "legend_below",
    "offscreen",
    "palette",
    "plain",
    "run_words",
    "span",
    "style",
]

STYLE = Path(__file__).resolve().parents[1] / "bayeseval.mplstyle"

LOOKS = {
    ("population", "model"): (0, "o", "prompts like these (population), model"),
    ("population", "robust"): (1, "D", "prompts like these (population), robust"),
    ("benchmark", "model"): (3, "s", "these prompts (benchmark)"),
    ("benchmark", "robust"): (5, "^", "these prompts (benchmark), robust"),
}
"""Number in the palette, marker and words of each estimand and method, the same in every figure."""


_offscreen: ContextVar[bool] = ContextVar("offscreen", default=False)


@contextmanager
def offscreen() -> Iterator[None]:
    """Make figures without pyplot for a while: for files, whatever window system the session uses."""
    token = _offscreen.set(True)
    try:
        yield
    finally:
        _offscreen.reset(token)


@contextmanager
def style() -> Iterator[None]:
    """Apply the style file for a while."""
    import matplotlib.style

    with matplotlib.style.context(STYLE):
        try:
            yield
        finally:
            # The first figure may switch the session to its interactive back end, and that is to last.
            interactive = matplotlib.is_interactive()
    if interactive:
        matplotlib.interactive(True)


@contextmanager
def canvas(ax: Axes | None, width: float, height: float, *, titles: int = 1, rows: int = 0) -> Iterator[Axes]:
    """Yield ``ax``, or the Axes of a new figure, while the style holds.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
    width, height : float
        Inches.
    titles, rows : int
        Lines of the title and rows of the legend, for a figure whose tick labels are short. With no rows, the margins
        are found by looking at every text instead, which takes as long as drawing.
    """
    with style():
        if ax is None:
            layout: Any = None if rows else "constrained"
            if _offscreen.get():
                from matplotlib.figure import Figure

                figure = Figure(figsize=(width, height), layout=layout)
            else:
                from matplotlib import pyplot

                figure = pyplot.figure(figsize=(width, height), layout=layout)
            if rows:
                top, bottom = 0.2 + 0.17 * titles, 0.7 + 0.2 * rows
                figure.subplots_adjust(0.7 / width, bottom / height, 1 - 0.15 / width, 1 - top / height)
            ax = figure.subplots()
        yield ax


@cache
def palette() -> tuple[str, ...]:
    """Colours of the style file, as ``#rrggbb``.

    Colours are named outright: an artist that is called "C0" would take its colour from the session when it is drawn.
    """
    from matplotlib import rc_params_from_file
    from matplotlib.colors import to_hex

    settings = rc_params_from_file(STYLE, use_default_template=False)
    return tuple(to_hex(value) for value in settings["axes.prop_cycle"].by_key()["color"])


def colour(number: int) -> str:
    """Colour by its number in the palette."""
    return palette()[number]


def plain(text: str, longest: int = 48) -> str:
    r"""Text from outside, made harmless: no mathematics, no control characters, the middle left out where long.

    Examples
    --------
    >>> plain("cost in $ per $")
    'cost in \\$ per \\$'
    >>> plain("a very long name of a system", longest=12)
    'a very…ystem'
    """
    clean = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if len(clean) > longest:
        tail = (longest - 1) // 2
        clean = f"{clean[: longest - 1 - tail]}…{clean[-tail:]}"
    return clean.replace("$", r"\$")


def run_words(system: str, benchmark: str, longest: int = 62) -> str:
    """System and benchmark for a title, made harmless."""
    return plain(f"{system} on {benchmark}", longest)


def interval_words(prob: float, kind: str = "credible interval") -> str:
    """Kind and probability of an interval."""
    return f"{100 * prob:.4g}% {kind}"


def legend_below(ax: Axes, handles: Sequence[Any], *, columns: int = 1) -> None:
    """A legend under the axis label, wherever the bottom of the Axes is; handles carry their labels."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure()
    assert figure is not None
    down = ScaledTranslation(0, -42 / 72, figure.dpi_scale_trans)
    ax.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + down,
        ncols=columns,
        borderaxespad=0,
    )


def span(low: float, high: float, *, pad: float = 0.06) -> tuple[float, float]:
    """Limits of an axis that shows probabilities from low to high: padded, but within [0, 1]."""
    room = pad * max(high - low, 1e-6)
    # A little beyond 0 and 1, so that a marker there is not cut in half.
    return max(low - room, -0.02 * (high - low)), min(high + room, 1 + 0.02 * (high - low))


def finite(values: Sequence[float]) -> np.ndarray:
    """The finite ones of some numbers."""
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)]
