"""Clusters of answers: which generations of a prompt gave the same answer, over all systems."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeseval.consistency.equivalences import Equivalence
from bayeseval.errors import BayesevalError, DataError
from bayeseval.readers.codes import IntArray, TextArray, combine, factorize
from bayeseval.readers.records import number

__all__ = ["NOT_EXTRACTED", "Clusters", "cluster_answers"]

NOT_EXTRACTED = ("", "-")
"""Answers that stand for none, unless others are named: nothing, and the dash."""
MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Clusters:
    """Distinct answers to each prompt, numbered over all prompts.

    Attributes
    ----------
    row : int array (generation,)
        Cluster of each generation; -1 where there is no answer.
    prompt : int array (cluster,)
        Prompt of each cluster; clusters of a prompt stand together, in order of first appearance.
    answer : object array (cluster,)
        Commonest spelling.
    gold : int array (prompt,)
        Cluster of the gold answer; -1 where it was never given, or there is none.
    notes : tuple of str
    """

    row: IntArray
    prompt: IntArray
    answer: TextArray
    gold: IntArray
    notes: tuple[str, ...]


def cluster_answers(
    answer: TextArray,
    prompt: IntArray,
    names: list[Any],
    equivalence: Equivalence,
    gold: TextArray | None = None,
    not_extracted: Collection[str] = NOT_EXTRACTED,
) -> Clusters:
    """Cluster the answers to each prompt.

    Only distinct texts are put into normal form, and only distinct normal forms are compared.

    Parameters
    ----------
    answer : object array (generation,)
        Texts or None.
    prompt : int array (generation,)
        Number of the prompt, from 0.
    names : list (prompt,)
        For sentences.
    equivalence : Equivalence
    gold : object array (prompt,), optional
        Gold answers or None; they are put into the clusters of the prompt.
    not_extracted : collection of str
        Answers, white space at their ends apart, that mean that none could be extracted.

    Returns
    -------
    Clusters

    Raises
    ------
    DataError
        If the equivalence raises; prompt and answers are named.

    Examples
    --------
    >>> from bayeseval.consistency.equivalences import chosen_equivalence
    >>> given = np.array(["A.", "a", "b", None], dtype=object)
    >>> cluster_answers(given, np.array([0, 0, 0, 0]), ["q1"], chosen_equivalence("exact")).row
    array([ 0,  0,  1, -1])
    """
    size = len(names)
    golds = np.full(size, None, dtype=object) if gold is None else gold
    text, texts = factorize(np.concatenate([answer, golds]))
    owner = np.concatenate([prompt, np.arange(size)])
    form = _forms(text, texts, owner, names, equivalence, {one.strip() for one in not_extracted})
    some = np.flatnonzero(form >= 0)
    key = combine(owner[some], form[some])
    code, first = _in_order(key)
    node_prompt, node_text = owner[some][first], text[some][first]
    merged, notes = _merged(node_prompt, [texts[i] for i in node_text], names, equivalence)
    cluster = np.full(len(owner), -1, dtype=np.int64)
    cluster[some] = merged[code]
    return _sorted(cluster, answer, prompt, size, notes, node_prompt, [texts[i] for i in node_text], merged)


def _forms(
    text: IntArray, texts: list[Any], owner: IntArray, names: list[Any], equivalence: Equivalence, none: set[str]
) -> IntArray:
    """Code of the normal form of every text of every row; -1 where there is no answer."""
    keys: list[Any] = []
    for place, one in enumerate(texts):
        if one is None or one.strip() in none:
            keys.append(None)
            continue
        try:
            key = equivalence.key(one)
            hash(key)
        except BayesevalError:
            raise
        except Exception as error:
            where = names[owner[int(np.argmax(text == place))]]
            raise DataError(
                f"the equivalence ({equivalence.name}) failed at prompt {where!r} for the answer {one[:60]!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
        keys.append(None if key is None or key == "" else key)
    known = {key: code for code, key in enumerate(dict.fromkeys(key for key in keys if key is not None))}
    return np.array([-1 if key is None else known[key] for key in keys], dtype=np.int64)[text]


def _in_order(key: IntArray) -> tuple[IntArray, IntArray]:
    """Codes of keys in order of first appearance, and the first row of each."""
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[inverse.reshape(-1)], first[order]


def _merged(
    prompt: IntArray, answers: list[str], names: list[Any], equivalence: Equivalence
) -> tuple[IntArray, tuple[str, ...]]:
    """Number the components of normal forms that are the same, and say where the comparison was no equivalence."""
    result = np.arange(len(prompt), dtype=np.int64)
    if equivalence.same is None or not len(prompt):
        return result, ()
    from scipy.sparse.csgraph import connected_components

    order = np.argsort(prompt, kind="stable")
    uneven: list[str] = []
    open_chains: list[str] = []
    for nodes in np.split(order, np.flatnonzero(np.diff(prompt[order])) + 1):
        if len(nodes) < 2:
            continue
        name = str(names[prompt[nodes[0]]])
        same = equivalence.same([answers[node] for node in nodes], name)
        if (same != same.T).any():
            uneven.append(name)
        joined = same | same.T
        _, label = connected_components(joined, directed=False)
        if (joined != (label[:, None] == label)).any():
            open_chains.append(name)
        for one in range(label.max() + 1):
            members = nodes[label == one]
            result[members] = members.min()
    told = (
        (uneven, "not symmetric", "answers count as the same where one direction holds"),
        (open_chains, "not transitive", "answers that a chain connects count as the same, which can make clusters too "
         "large"),
    )  # fmt: skip
    return result, tuple(
        f"the equivalence ({equivalence.name}) is {what} at {number(len(found), 'prompt')} "
        f"({', '.join(found[:MOST_NAMED])}{', ...' if len(found) > MOST_NAMED else ''}): {then}"
        for found, what, then in told
        if found
    )


def _sorted(
    cluster: IntArray, answer: TextArray, prompt: IntArray, size: int, notes: tuple[str, ...],
    node_prompt: IntArray, node_text: list[str], merged: IntArray,
) -> Clusters:  # fmt: skip
    """Number clusters by prompt and first appearance, those of gold answers alone left out, and name them."""
    rows = len(answer)
    given = cluster[:rows]
    seen = np.flatnonzero(given >= 0)
    code, first = _in_order(given[seen])
    owner = prompt[seen][first]
    order = np.lexsort((np.arange(len(owner)), owner))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    row = np.full(rows, -1, dtype=np.int64)
    row[seen] = place[code]
    numbered = np.full(int(cluster.max(initial=-1)) + 1, -1, dtype=np.int64)
    numbered[given[seen]] = row[seen]
    golden = cluster[rows:]
    gold = np.where(golden >= 0, numbered[np.maximum(golden, 0)] if len(numbered) else -1, -1)
    return Clusters(row, owner[order], _spellings(row, answer, len(order)), gold.astype(np.int64), notes)


def _spellings(row: IntArray, answer: TextArray, size: int) -> TextArray:
    """Commonest spelling in each cluster, of equally common ones the first in the alphabet."""
    found = np.full(size, "", dtype=object)
    seen = np.flatnonzero(row >= 0)
    if not len(seen):
        return found
    code, texts = factorize(answer[seen])
    alphabet = np.empty(len(texts), dtype=np.int64)
    alphabet[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    key, times = np.unique(combine(row[seen], alphabet[code]), return_counts=True)
    by_rank = np.argsort(alphabet)
    base = int(alphabet.max()) + 1
    owner, rank = key // base, key % base
    best = np.lexsort((rank, -times, owner))
    keep = best[np.r_[True, owner[best][1:] != owner[best][:-1]]]
    for place, which in zip(owner[keep].tolist(), by_rank[rank[keep]].tolist(), strict=True):
        found[place] = texts[which]
    return found
