"""When two answers to a prompt count as the same: by a normal form, or by comparing pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.consistency.normal_forms import exact_form, letter_form
from bayeseval.errors import DataError, MissingDependencyError, OptionError, require_probability

__all__ = ["NAMED", "Equivalence", "by_embedding", "by_entailment", "by_key", "by_pair", "chosen_equivalence"]

NAMED = ("exact", "letter", "math", "embedding", "entailment")
SIMILAR = 0.9
Matrix = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Equivalence:
    """How answers are compared; made by `by_key`, `by_pair`, `by_embedding`, `by_entailment` or a name.

    Attributes
    ----------
    name : str
        For sentences.
    key : callable (text) -> hashable or None
        Normal form that is taken first; None means that there is no answer in the text.
    same : callable (list of str, str) -> bool array (answer, answer), optional
        Which answers to a prompt (their first spellings, and the name of the prompt) are the same as which, in both
        directions. None where the normal form decides alone.

    Examples
    --------
    >>> Equivalence("length", len)
    by length
    """

    name: str
    key: Callable[[str], Any]
    same: Callable[[Sequence[str], str], Matrix] | None = None

    def __repr__(self) -> str:
        return f"by {self.name}"


def by_key(key: Callable[[str], Any], name: str | None = None) -> Equivalence:
    """Answers are the same whose normal forms are equal.

    Parameters
    ----------
    key : callable (text) -> hashable or None
        None means that the text holds no answer.
    name : str, optional

    Returns
    -------
    Equivalence

    Examples
    --------
    >>> by_key(str.lower, "lower case").key("A")
    'a'
    """
    return Equivalence(name or _name(key), key)


def by_pair(same: Callable[[str, str], bool], name: str | None = None) -> Equivalence:
    """Answers are the same that a function of two answers calls so; both directions are asked.

    Parameters
    ----------
    same : callable (a, b) -> bool
        Need not be symmetric or transitive: what it says is completed to clusters, and the map tells where it had to.
    name : str, optional

    Returns
    -------
    Equivalence

    Examples
    --------
    >>> by_pair(lambda a, b: a in b).same(["1", "12"], "q1").tolist()
    [[True, True], [False, True]]
    """
    label = name or _name(same)

    def compare(answers: Sequence[str], prompt: str) -> Matrix:
        found = np.eye(len(answers), dtype=bool)
        for i, first in enumerate(answers):
            for j, second in enumerate(answers):
                if i != j:
                    found[i, j] = _asked(same, first, second, prompt, label)
        return found

    return Equivalence(label, exact_form, compare)


def by_entailment(entails: Callable[[str, str], bool]) -> Equivalence:
    """Answers are the same that entail each other, as in semantic entropy.

    Parameters
    ----------
    entails : callable (a, b) -> bool
        Whether b follows from a, such as by a model of natural language inference. Add the prompt to both texts
        yourself where the answers do not stand alone.

    Returns
    -------
    Equivalence

    References
    ----------
    .. [1] Kuhn, Gal, Farquhar (2023). Semantic Uncertainty. https://arxiv.org/abs/2302.09664

    Examples
    --------
    >>> by_entailment(lambda a, b: set(b.split()) <= set(a.split())).same(["in Paris", "Paris"], "q1").tolist()
    [[True, False], [False, True]]
    """
    one_way = by_pair(entails, "entailment")
    assert one_way.same is not None
    directed = one_way.same

    def compare(answers: Sequence[str], prompt: str) -> Matrix:
        found = directed(answers, prompt)
        return np.asarray(found & found.T)

    return Equivalence("entailment in both directions", exact_form, compare)


def by_embedding(model: Any, threshold: float = SIMILAR) -> Equivalence:
    """Answers are the same whose embeddings point in nearly the same direction.

    Parameters
    ----------
    model : str, or callable (list of str) -> float array (text, dimension)
        A folder with a model for sentence-transformers, which is read without the network (extra ``embed``), or
        whatever embeds.
    threshold : float
        Cosine from which on two answers count as the same.

    Returns
    -------
    Equivalence

    Raises
    ------
    MissingDependencyError
        If a folder is given and sentence-transformers is not installed.
    OptionError
        If the folder holds no model, or the threshold is no number between 0 and 1.

    Examples
    --------
    >>> def counted(texts):
    ...     return [[text.count(letter) for letter in "abc"] for text in texts]
    >>> by_embedding(counted).same(["ab", "ba", "c"], "q1").tolist()
    [[True, True, False], [True, True, False], [False, False, True]]
    """
    limit = require_probability("threshold", threshold)
    embed = model if callable(model) else _sentence_model(model)

    def compare(answers: Sequence[str], prompt: str) -> Matrix:
        try:
            vectors = np.asarray(embed(list(answers)), dtype=float)
        except Exception as error:
            raise DataError(f"the embedding of the answers to prompt {prompt!r} failed: {_said(error)}") from error
        if vectors.ndim != 2 or len(vectors) != len(answers) or not np.isfinite(vectors).all():
            raise DataError(
                f"an embedding must give one row of finite numbers for each answer, but for the {len(answers)} answers "
                f"to prompt {prompt!r} it gave an array of shape {vectors.shape}"
            )
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(length > 0, length, 1.0)
        return np.asarray((unit @ unit.T >= limit) | np.eye(len(answers), dtype=bool))

    return Equivalence(f"embedding, cosine of at least {limit:g}", exact_form, compare)


def chosen_equivalence(chosen: Any, model: Any = None, threshold: float = SIMILAR) -> Equivalence:
    """The equivalence that was named or given.

    Parameters
    ----------
    chosen : {"exact", "letter", "math", "embedding", "entailment"}, Equivalence or callable
        A callable with one parameter is a normal form, one with two compares a pair.
    model : callable or str, optional
        What embeds, for ``"embedding"``; whether b follows from a, for ``"entailment"``.
    threshold : float
        Cosine, for ``"embedding"``.

    Returns
    -------
    Equivalence

    Raises
    ------
    OptionError
        If there is no such equivalence, or it lacks its model.
    MissingDependencyError
        If it needs a package that is not installed.

    Examples
    --------
    >>> chosen_equivalence("exact"), chosen_equivalence(str.lower), chosen_equivalence(lambda a, b: a == b)
    (by exact text, by lower, by function of two answers)
    """
    if isinstance(chosen, Equivalence):
        return chosen
    if callable(chosen):
        return by_pair(chosen) if _parameters(chosen) == 2 else by_key(chosen)
    if chosen not in NAMED:
        listed = ", ".join(repr(name) for name in NAMED)
        raise OptionError(
            f"equivalence must be one of {listed}, a function of one answer (a normal form) or a function of two "
            f"answers, but {chosen!r} was given"
        )
    if chosen == "math":
        return _mathematical()
    if chosen in ("embedding", "entailment"):
        if model is None:
            what = "a folder with a model, or a function that embeds texts" if chosen == "embedding" else (
                "a function of two answers that says whether the second follows from the first"
            )  # fmt: skip
            raise OptionError(f"equivalence {chosen!r} needs model=: {what}")
        return by_embedding(model, threshold) if chosen == "embedding" else by_entailment(model)
    return Equivalence("exact text", exact_form) if chosen == "exact" else Equivalence("letter", letter_form)


def _mathematical() -> Equivalence:
    """Answers are the same that are the same number or formula, by math-verify."""
    try:
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
    except ImportError:
        raise MissingDependencyError(
            "equivalence 'math' needs math-verify: pip install 'bayeseval[math]', or choose 'exact'"
        ) from None
    configs = [LatexExtractionConfig(), ExprExtractionConfig()]

    def read(text: str) -> Any:
        # A formula is looked for between dollar signs; a timeout would need signals, which threads do not have.
        bare = text if "$" in text or "\\boxed" in text or "\\" not in text else f"${text}$"
        return parse(bare, extraction_config=configs, parsing_timeout=None, raise_on_error=False)

    def compare(answers: Sequence[str], prompt: str) -> Matrix:
        formulas = [read(answer) for answer in answers]
        found = np.eye(len(answers), dtype=bool)
        for i, first in enumerate(formulas):
            for j, second in enumerate(formulas):
                if i < j and first and second:
                    # Not symmetric: gold and answer play different parts. Either direction will do.
                    found[i, j] = found[j, i] = any(
                        verify(a, b, timeout_seconds=None, raise_on_error=False)
                        for a, b in ((first, second), (second, first))
                    )
        return found

    return Equivalence("mathematics", exact_form, compare)


def _sentence_model(folder: Any) -> Callable[[Sequence[str]], Any]:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise MissingDependencyError(
            "an embedding by the name of its folder needs sentence-transformers: pip install 'bayeseval[embed]', or "
            "give a function that embeds texts"
        ) from None
    try:
        model = SentenceTransformer(str(folder), local_files_only=True)
    except Exception as error:
        raise OptionError(f"{folder} holds no model for sentence-transformers: {_said(error)}") from error
    return lambda texts: model.encode(list(texts), convert_to_numpy=True, show_progress_bar=False)


def _asked(same: Callable[[str, str], bool], first: str, second: str, prompt: str, label: str) -> bool:
    try:
        return bool(same(first, second))
    except Exception as error:
        raise DataError(
            f"the equivalence ({label}) failed at prompt {prompt!r} for the answers {_short(first)} and "
            f"{_short(second)}: {_said(error)}"
        ) from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _short(answer: str) -> str:
    return repr(answer if len(answer) <= 60 else answer[:57] + "...")


def _parameters(function: Any) -> int:
    """Number of arguments without a default that a function takes; 1 where that cannot be told."""
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len([one for one in positional if one.default is one.empty])


def _name(function: Any) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    if name == "<lambda>":
        return f"function of {'two answers' if _parameters(function) == 2 else 'an answer'}"
    return name
