"""What kind of trouble a prompt is in, as far as its answers tell."""

from __future__ import annotations

import numpy as np

from bayeseval.arrays import Floats

__all__ = ["KINDS", "kinds_of_trouble"]

KINDS = {
    "no answers": "from most generations no answer could be extracted",
    "grader failure": "the commonest answer equals the gold answer, but is scored wrong",
    "wrong gold": "the gold answer is more probably wrong than right",
    "ambiguous": "two stable answers",
    "stable wrong answer": "one wrong answer dominates; a wrong gold answer is less probable than a hard prompt",
    "too hard": "few correct answers, and no agreement on a wrong one",
    "one generation": "nothing but a single wrong generation is known",
    "none": "mostly answered correctly, or nothing stands out",
}
"""Kinds of trouble, in the order in which they are looked for."""
STABLE, BOTH, FEW, MOST, FEWEST = 0.25, 0.75, 0.25, 0.5, 4


def kinds_of_trouble(
    probability: Floats,
    right: Floats,
    first: Floats,
    second: Floats,
    wrong: Floats,
    none: Floats,
    grader: np.ndarray,
    generations: np.ndarray,
) -> np.ndarray:
    """Kind of trouble of every prompt, from shares that are averaged over systems.

    Parameters
    ----------
    probability : float array (prompt,)
        That the gold answer is wrong.
    right, first, second, wrong, none : float array (prompt,)
        Shares of generations: with a right answer, with the commonest answer, with the second, with the commonest wrong
        one, and without an answer.
    grader : bool array (prompt,)
        Whether the commonest answer equals the gold answer but was scored wrong.
    generations : int array (prompt,)

    Returns
    -------
    object array (prompt,)
        Keys of ``KINDS``; the first that applies.

    Examples
    --------
    >>> one = [np.array([value]) for value in (0.02, 0.5, 0.5, 0.5, 0.5, 0.0, False, 20)]
    >>> kinds_of_trouble(*one)
    array(['ambiguous'], dtype=object)
    """
    several = generations >= FEWEST
    rules = [
        none > MOST,
        grader,
        probability >= 0.5,
        several & (second >= STABLE) & (first + second >= BOTH),
        (generations > 1) & (wrong >= MOST) & (right < FEW),
        (generations > 1) & (right < FEW),
        (generations <= 1) & (right == 0),
    ]
    found = np.full(len(probability), "none", dtype=object)
    for rule, kind in reversed(list(zip(rules, KINDS, strict=False))):
        found[np.asarray(rule, dtype=bool)] = kind
    return found
