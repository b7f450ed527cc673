"""Generations of several systems with shared noise, graded: from models to `Outcomes`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from bayeseval.coupling.noise import SCHEME, whole_number
from bayeseval.coupling.sampling import Decoding
from bayeseval.coupling.store import Key, Store
from bayeseval.coupling.systems import Request, System, as_system
from bayeseval.coupling.vocabularies import require_match
from bayeseval.errors import DataError, OptionError, require_positive_integer
from bayeseval.outcomes import Outcomes
from bayeseval.progress import Progress
from bayeseval.readers.records import number

__all__ = ["generate_coupled"]

Grader = Callable[[str, str], object]


def generate_coupled(
    systems: Mapping[str, Any],
    prompts: Mapping[str, str],
    grader: Grader,
    *,
    generations: int,
    seed: int,
    coupled: bool = True,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_new_tokens: int = 64,
    batch_size: int = 16,
    benchmark: str = "benchmark",
    gold: Mapping[str, str] | None = None,
    group: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Outcomes:
    """Let systems answer prompts several times, generation j of all of them with the same noise.

    Each system keeps its own law: its generations are what plain sampling would give. Only their joint law changes,
    and with it the variance of a difference.

    Parameters
    ----------
    systems : mapping of str to system
        By name: pairs (model, tokenizer) of transformers, or `LogitsSystem` objects. Systems that do not fit into
        memory together can be given one after the other, with the same seed and folder: noise depends on nothing else.
    prompts : mapping of str to str
        Texts by id, as the systems shall read them, chat templates applied.
    grader : callable
        Takes a prompt's id and an answer; returns whether it is correct, or None where that cannot be said. It is
        called when all generations are there, for those read from a folder too.
    generations : int
        To each prompt by each system.
    seed : int
    coupled : bool
        False draws every system's noise with a key of its own.
    temperature, top_k, top_p
        See `Decoding`. Temperature 0 is refused.
    max_new_tokens : int
        A generation that has not ended by then is cut off.
    batch_size : int
        Generations made at once.
    benchmark : str
    gold, group : mapping of str to str, optional
        Gold answers and subjects by prompt id, kept in the outcomes.
    folder : str or pathlib.Path, optional
        Every generation is written there when it is made; the next call goes on from there, also with more generations,
        prompts or systems.
    progress : bool

    Returns
    -------
    Outcomes
        One row for each system, prompt and generation. ``seed`` is equal for systems that share their noise.

    Raises
    ------
    OptionError
        If a setting is impossible, or another one than in the folder.
    DataError
        If coupling would be lost since vocabularies or tokenisation differ, a system is given twice, or a grade is
        neither right nor wrong.

    Warns
    -----
    UserWarning
        If it is interrupted; what is done is returned.

    Notes
    -----
    The noise of a generation does not depend on the batch. The logits of a neural network do a little: floating-point
    sums come out differently in batches of another shape, and where two tokens nearly tie, another one may win.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeseval.coupling import LogitsSystem, generate_coupled
    >>> def system(p):
    ...     chances = np.log([p, 1 - p, 1e-300])
    ...     return LogitsSystem(lambda texts, written: np.tile(chances, (len(texts), 1)), ["yes", "no", ""], stop=2)
    >>> outcomes = generate_coupled(
    ...     {"a": system(0.8), "b": system(0.7)}, {"q1": "Well?", "q2": "So?"}, lambda prompt, answer: answer == "yes",
    ...     generations=50, seed=1, max_new_tokens=1, progress=False,
    ... )
    >>> a, b = (outcomes.select(system=name).matrix() for name in "ab")
    >>> bool((a >= b).all())  # with two tokens, whoever is better is right whenever the other is
    True
    """
    decoding = Decoding(temperature, top_k, top_p)
    each = require_positive_integer("generations", generations)
    most = require_positive_integer("max_new_tokens", max_new_tokens)
    at_once = require_positive_integer("batch_size", batch_size)
    start = whole_number("seed", seed)
    texts = _checked_prompts(prompts)
    known = _checked_systems(systems)
    said = []
    if coupled and len(known) > 1:
        matches = require_match({name: system.vocabulary for name, system in known.items()}, list(texts.values()))
        said = [repr(match).partition(": ")[2] for match in matches]
    settings = {"scheme": SCHEME, "seed": start, "coupled": bool(coupled), "temperature": float(temperature),
                "top_k": top_k, "top_p": top_p, "max_new_tokens": most, "benchmark": benchmark}  # fmt: skip
    store = Store(folder, settings, {name: system.fingerprint for name, system in known.items()}, texts)
    wanted: list[Key] = [(name, prompt, place) for name in known for prompt in texts for place in range(each)]
    missing = [key for key in wanted if key not in store.answers]
    if len(missing) < len(wanted):
        said.append(f"{number(len(wanted) - len(missing), 'generation')} read from {store.folder}")
    streams = {name: None if coupled else name for name in known}
    with Progress("generating", len(missing), enabled=progress) as bar:
        try:
            for batch in _batches(missing, at_once):
                name = batch[0][0]
                requests = [Request(prompt, texts[prompt], place) for _, prompt, place in batch]
                bar.describe(name)
                made = known[name].answers(requests, start, streams[name], decoding, most)
                store.add(zip(batch, made, strict=True))
                bar.advance(len(batch))
        except KeyboardInterrupt:
            wanted = [key for key in wanted if key in store.answers]
            if not wanted:
                raise
            said.append(f"interrupted: {number(len(wanted), 'generation')} are made, and only they are returned")
            warnings.warn(said[-1], stacklevel=2)
    noise = "shared noise" if coupled else "noise of their own"
    said.insert(0, f"generated with {noise}, seed {start}, {decoding}, at most {most} tokens")
    return _graded(wanted, store.answers, grader, streams, start, benchmark, gold, group, tuple(said))


def _checked_prompts(prompts: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(prompts, Mapping) or not prompts:
        raise OptionError("prompts must be a mapping from ids to texts, with one prompt at least")
    texts = {str(prompt): text for prompt, text in prompts.items()}
    if len(texts) != len(prompts):
        raise DataError("two prompts have the same id, once as a number and once as text; ids are compared as texts")
    for prompt, text in texts.items():
        if not isinstance(text, str):
            raise DataError(f"the text of prompt {prompt!r} is {type(text).__name__}, and text is needed")
    return texts


def _checked_systems(systems: Mapping[str, Any]) -> dict[str, System]:
    if not isinstance(systems, Mapping) or not systems:
        raise OptionError("systems must be a mapping from names to systems, with one system at least")
    known = {str(name): as_system(str(name), given) for name, given in systems.items()}
    for first, second in combinations(known, 2):
        if known[first].identity is known[second].identity:
            raise DataError(
                f"{first} and {second} are the same system, whose coupled generations are equal word for word; give "
                f"different systems"
            )
    return known


def _batches(keys: Sequence[Key], size: int) -> list[list[Key]]:
    """Keys of one system, so many at once."""
    batches: list[list[Key]] = []
    for key in keys:
        if not batches or len(batches[-1]) == size or batches[-1][0][0] != key[0]:
            batches.append([])
        batches[-1].append(key)
    return batches


def _graded(
    keys: Sequence[Key],
    answers: Mapping[Key, str],
    grader: Grader,
    streams: Mapping[str, str | None],
    seed: int,
    benchmark: str,
    gold: Mapping[str, str] | None,
    group: Mapping[str, str] | None,
    account: tuple[str, ...],
) -> Outcomes:
    grades = [_grade(grader, prompt, answers[system, prompt, place]) for system, prompt, place in keys]
    system, prompt, generation = (list(column) for column in zip(*keys, strict=True))
    seeds = [str(seed) if streams[name] is None else f"{seed}/{streams[name]}" for name in system]
    columns: dict[str, Any] = {
        "answer": [answers[key] for key in keys],
        "seed": seeds,
        "gold": None if gold is None else [gold.get(name) for name in prompt],
        "group": None if group is None else [group.get(name, "") for name in prompt],
    }
    return Outcomes(system, benchmark, prompt, generation, grades, account=account, **columns)  # type: ignore[arg-type]


def _grade(grader: Grader, prompt: str, answer: str) -> float:
    grade = grader(prompt, answer)
    if grade is None:
        return float("nan")
    value = float(grade) if isinstance(grade, int | float) or hasattr(grade, "__float__") else -1.0
    if value not in (0.0, 1.0):
        raise DataError(
            f"the grader must say True, False or None (cannot be said), but for prompt {prompt!r} it said {grade!r}"
        )
    return value
