"""Figures as SVG inside a page: they follow the page's light or dark colours, and refer to nothing outside."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from bayeseval.plots.canvas import STYLE, offscreen, palette, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["inline_svg"]

_DARK_INK = ("#30343b", "#6b7077")
"""Colours of marks that are neither in the palette nor in the style file, with their variables ``--ink0``, ..."""


def inline_svg(draw: Callable[[], Axes], label: str, number: int) -> str:
    """Draw a figure and return it as an SVG element.

    Parameters
    ----------
    draw : callable
        Makes the figure and returns its Axes.
    label : str
        What the figure shows, for people who cannot see it.
    number : int
        Of the figure in its page: identifiers of different figures must differ.

    Returns
    -------
    str
        An ``<svg>`` element whose colours are variables of the page: ``--c0``, ... for the palette, ``--line`` for the
        grid, ``--edge`` for axes, ``--page`` for the ground.
    """
    file = StringIO()
    with offscreen(), style(), warnings.catch_warnings():
        # A name in a script that the font lacks is measured wrongly, but the browser shows it with a font of its own.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        figure = draw().get_figure()
        assert figure is not None
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})  # type: ignore[union-attr]
    return _fitted(file.getvalue(), label, number)


def _fitted(svg: str, label: str, number: int) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    width, height = (float(value) for value in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    # Tags alone are changed: texts between them, such as the numbers of an axis, stay as they are.
    svg = re.sub(r"<[^>]*>", lambda tag: _tidy(tag[0], number), svg)
    # Names to which nothing refers go: figures repeat them.
    wanted = set(re.findall(r'(?:url\(#|href="#)([^")]+)', "".join(re.findall(r"<[^>]*>", svg))))
    svg = re.sub(r'(<[^>]*?) id="([^"]+)"', lambda found: found[0] if found[2] in wanted else found[1], svg)
    svg = re.sub(r">\s+<", "><", svg).strip()
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width * 4 / 3:.0f}px" role="img"'
    return re.sub(r"<svg [^>]*>", lambda _: f'{head} aria-label="{escape(label)}">', svg, count=1)


def _tidy(tag: str, number: int) -> str:
    tag = re.sub(r"\s+", " ", tag).replace("xlink:href", "href")
    tag = re.sub(r'(url\(#|href="#| id=")', rf"\g<1>f{number}-", tag)
    tag = re.sub(r"(\d\.\d\d)\d+", r"\1", tag)
    tag = re.sub(r"font-family: [^;\"]*", "font-family: var(--font)", tag)
    for plain, variable in _colours().items():
        tag = tag.replace(plain, variable)
    return tag


@cache
def _colours() -> dict[str, str]:
    """Variable of the page for each colour that figures use."""
    from matplotlib import rc_params_from_file
    from matplotlib.colors import to_hex

    settings = rc_params_from_file(STYLE, use_default_template=False)
    fixed = {"text.color": "currentColor", "grid.color": "var(--line)", "axes.edgecolor": "var(--edge)"}
    colours = {to_hex(settings[name]): variable for name, variable in fixed.items()}
    colours |= {value: f"var(--c{place})" for place, value in enumerate(palette())}
    colours |= {value: f"var(--ink{place})" for place, value in enumerate(_DARK_INK)}
    return {**colours, "#ffffff": "var(--page)"}
