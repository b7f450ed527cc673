"""Who was compared with whom, and who ever beat whom: what the data can say about strengths, and what they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeseval.errors import DataError
from bayeseval.pairs import listed

__all__ = ["components", "prior_driven", "require_connected"]

MOST_NAMED = 10


def components(edges: Any, *, directed: bool = False) -> list[np.ndarray]:
    """Systems that hang together, largest group first.

    Parameters
    ----------
    edges : array (system, system)
        Positive where the system of the row was compared with (directed: beat or tied) that of the column.
    directed : bool
        Whether a chain must lead there and back.

    Returns
    -------
    list of int array
        Numbers of the systems of each group.

    Examples
    --------
    >>> beat = [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    >>> [group.tolist() for group in components(beat, directed=True)]
    [[0, 1], [2]]
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    graph = csr_matrix(np.asarray(edges) > 0)
    size, label = connected_components(graph, directed=directed, connection="strong")
    groups = [np.flatnonzero(label == number) for number in range(size)]
    return sorted(groups, key=lambda group: (-group.size, int(group[0])))


def require_connected(edges: Any, systems: Sequence[str]) -> None:
    """Refuse systems that no chain of comparisons connects.

    Raises
    ------
    DataError
        With every group of systems that hang together.
    """
    groups = components(edges)
    if len(groups) > 1:
        told = "; ".join(
            f"group {place}: {listed([systems[int(one)] for one in group])}"
            for place, group in enumerate(groups[:MOST_NAMED], 1)
        )
        more = f"; and {len(groups) - MOST_NAMED:,} more groups" if len(groups) > MOST_NAMED else ""
        raise DataError(
            f"no chain of comparisons connects all systems, so that they have no common ranking: {told}{more}; rank "
            f"the groups one by one with preferences.select(systems), or add comparisons between them"
        )


def prior_driven(wins: Any, ties: Any, systems: Sequence[str]) -> list[str]:
    """Sentences about systems whose strength only the prior keeps finite.

    Parameters
    ----------
    wins, ties : array (system, system)
        What the model counts: wins of the row over the column, and ties.
    systems : sequence of str

    Returns
    -------
    list of str
        Strengths have a finite maximum of the likelihood exactly where everybody beat or tied everybody else through
        some chain (Ford 1957). Where that fails, the sentences name who won or lost everything, or which groups never
        lost to others.
    """
    edges = np.asarray(wins) + np.asarray(ties)
    if len(components(edges, directed=True)) == 1:
        return []
    said = []
    won, lost = (edges.sum(axis=0) == 0), (edges.sum(axis=1) == 0)
    for names, what in ((won, "won"), (lost, "lost")):
        who = [systems[int(place)] for place in np.flatnonzero(names)]
        if who:
            said.append(
                f"{listed(who)} {what} every comparison: how {'strong' if what == 'won' else 'weak'} follows from the "
                f"prior, not from the data"
            )
    inner = np.flatnonzero(~won & ~lost)
    groups = components(edges[np.ix_(inner, inner)], directed=True) if inner.size else []
    if len(groups) > 1:
        told = "; ".join(listed([systems[int(place)] for place in inner[group]]) for group in groups[:MOST_NAMED])
        said.append(
            f"some groups of systems never lost to others, so that the distance between the groups follows from the "
            f"prior: {told}"
        )
    return said
