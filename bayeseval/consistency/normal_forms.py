"""Normal forms of answers: texts that are equal after it count as the same answer."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["exact_form", "letter_form"]

_THOUSANDS = re.compile(r"(?<![\d.,])([+-]?\d{1,3}(?:,\d{3})+)(?=(?:\.\d+)?(?![\d,]))")
_TRAILING = ".,;:!?"
_LETTER = r"\(?\[?\{?([A-Za-z])\}?\]?\)?"
_ALONE = re.compile(rf"^\W*{_LETTER}\W*$")
_BOXED = re.compile(r"\\boxed\{\s*(?:\\(?:text|mathrm|mathbf)\{)?\s*\(?([A-Za-z])\)?\s*\}")
_NAMED = re.compile(
    r"(?:answer|option|choice)(?:\s+is|\s*:|\s+would\s+be)?\s*:?\s*\**\s*[\(\[]?([A-Z])(?![A-Za-z'’])[\)\]]?",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^\s*[\(\[]?([A-Za-z])(?:[\)\]:]|\.(?:\s|$))")


def exact_form(text: str) -> str:
    r"""Normal form of ``equivalence="exact"``.

    In this order: Unicode NFKC (so that "５" is "5" and "½" is "1⁄2"); case folded; what is no printable character
    becomes a space; white space at the ends is cut and inside becomes one space; trailing ``. , ; : ! ?`` are cut;
    commas between groups of three digits go ("1,234" is "1234", while "1,2,3" stays a list).

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Empty where nothing is left.

    Examples
    --------
    >>> [exact_form(text) for text in ("  Paris. ", "1,234.50", "1,2,3", "\\frac{1}{2}", "-")]
    ['paris', '1234.50', '1,2,3', '\\frac{1}{2}', '-']
    """
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = folded.casefold()
    if not folded.isprintable():
        folded = "".join(char if char.isprintable() else " " for char in folded)
    folded = " ".join(folded.split()).rstrip(_TRAILING).rstrip()
    return _THOUSANDS.sub(lambda found: found[1].replace(",", ""), folded) if "," in folded else folded


def letter_form(text: str) -> str | None:
    r"""Letter of a multiple-choice answer, in upper case; None where there is none.

    Taken are, first found first: a letter that stands alone, also in brackets or ``\boxed{}``; the last letter that is
    called answer, option or choice ("the answer is (B)"); a letter at the beginning before ``)``, ``]``, ``:`` or a
    full stop ("B) because").

    Parameters
    ----------
    text : str

    Returns
    -------
    str or None

    Examples
    --------
    >>> [letter_form(text) for text in ("B", "(c)", "\\boxed{D}", "The answer is B.", "A. Paris", "A cat", "")]
    ['B', 'C', 'D', 'B', 'A', None, None]
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).split())
    for pattern in (_ALONE, _BOXED):
        if found := pattern.search(folded):
            return found[1].upper()
    if named := _NAMED.findall(folded):
        return str(named[-1]).upper()
    found = _LEADING.search(folded)
    return found[1].upper() if found else None
