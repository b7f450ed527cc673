"""Posteriors as xarray DataTrees with ArviZ's groups, and as NetCDF files."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeseval.catalogue import ModelFile, load_model
from bayeseval.counts import Counts
from bayeseval.credits import Credits
from bayeseval.engines.quadrature import DRAW_NODES, exact_under
from bayeseval.errors import DataError, ModelFileError, ReadError
from bayeseval.files import write_whole
from bayeseval.pairs import Pairs
from bayeseval.posterior.credit import CreditPosterior
from bayeseval.posterior.pairs import PairPosterior
from bayeseval.posterior.posterior import Posterior

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["credits_to_datatree", "load", "pairs_to_datatree", "save", "to_datatree"]

LOG_LIKELIHOOD_LIMIT = 1 << 23
"""Most numbers in the log_likelihood group (64 MiB); beyond that it is left out, and the attributes say so."""


def to_datatree(posterior: Posterior) -> xr.DataTree:
    """Groups posterior, sample_stats, observed_data, constant_data and, for small runs, log_likelihood.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    xarray.DataTree
    """
    import xarray as xr

    counts = posterior.counts
    prompts = {"prompt": [str(prompt) for prompt in counts.prompt]}
    groups = {
        "posterior": _dataset(posterior.parameters),
        "sample_stats": _dataset(posterior.statistics),
        "observed_data": xr.Dataset({"correct": ("prompt", counts.correct)}, prompts),
        "constant_data": xr.Dataset({"generations": ("prompt", counts.generations)}, prompts),
    }
    if counts.group is not None:
        groups["constant_data"]["group"] = ("prompt", [str(group) for group in counts.group])
    attributes = _attributes(posterior)
    if posterior.n_draws * len(counts) <= LOG_LIKELIHOOD_LIMIT:
        chains, draws = next(iter(posterior.parameters.values())).shape[:2]
        values = posterior.distribution.logpmf(counts.correct, counts.generations, posterior.key)
        values = values.reshape(chains, draws, -1)
        groups["log_likelihood"] = xr.Dataset({"correct": (("chain", "draw", "prompt"), values)}, prompts)
    else:
        attributes["log_likelihood"] = "left out: too large; it is a function of the draws (distribution.logpmf)"
    tree = xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in groups.items()})
    tree.attrs.update(attributes)
    return tree


def credits_to_datatree(posterior: CreditPosterior) -> xr.DataTree:
    """Groups posterior, sample_stats, observed_data (the credit of every generation) and constant_data.

    Parameters
    ----------
    posterior : CreditPosterior

    Returns
    -------
    xarray.DataTree
    """
    import xarray as xr

    credits = posterior.credits
    known = {"prompt": credits.prompt, "number": credits.generation}
    if credits.group is not None:
        known["group"] = credits.group
    columns = {name: ("generation", [str(value) for value in values]) for name, values in known.items()}
    groups = {
        "posterior": _dataset(posterior.parameters),
        "sample_stats": _dataset(posterior.statistics),
        "observed_data": xr.Dataset({"credit": ("generation", credits.credit)}),
        "constant_data": xr.Dataset(columns),
    }
    tree = xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in groups.items()})
    levels = None if credits.levels is None else list(credits.levels)
    tree.attrs.update({**_attributes(posterior), "levels": json.dumps(levels)})
    return tree


def pairs_to_datatree(posterior: PairPosterior) -> xr.DataTree:
    """Groups posterior, sample_stats, observed_data (correct of both systems) and constant_data.

    Parameters
    ----------
    posterior : PairPosterior

    Returns
    -------
    xarray.DataTree
        ``correct`` and ``generations`` (system, prompt); ``both`` (prompt) of coupled generations.
    """
    import xarray as xr

    pairs = posterior.pairs
    names = {"system": list(pairs.systems), "prompt": [str(prompt) for prompt in pairs.prompt]}
    groups = {
        "posterior": _dataset(posterior.parameters),
        "sample_stats": _dataset(posterior.statistics),
        "observed_data": xr.Dataset({"correct": (("system", "prompt"), pairs.correct)}, names),
        "constant_data": xr.Dataset({"generations": (("system", "prompt"), pairs.generations)}, names),
    }
    if pairs.both is not None:
        groups["observed_data"]["both"] = ("prompt", pairs.both)
    if pairs.group is not None:
        groups["constant_data"]["group"] = ("prompt", [str(group) for group in pairs.group])
    tree = xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in groups.items()})
    more = {"systems": json.dumps(list(pairs.systems)), "warnings": json.dumps(list(pairs.warnings))}
    tree.attrs.update({**_attributes(posterior), **more})
    return tree


def _attributes(posterior: Posterior | CreditPosterior | PairPosterior) -> dict[str, Any]:
    return {
        "system": posterior.system,
        "benchmark": posterior.benchmark,
        "model": posterior.model.name,
        "model_path": str(posterior.model.path),
        "model_digest": posterior.model.digest,
        "prior": json.dumps(posterior.prior),
        "engine": posterior.engine,
        "seed": posterior.seed,
        "made": json.dumps(posterior.made),
    }


def save(posterior: Posterior | CreditPosterior | PairPosterior, path: str | Path) -> Path:
    """Write a posterior to a NetCDF file; the file appears whole or not at all.

    Parameters
    ----------
    posterior : Posterior, CreditPosterior or PairPosterior
    path : str or pathlib.Path

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OptionError
        If the file cannot be written.
    """
    tree = posterior.data.drop_nodes("log_likelihood", errors="ignore")
    tree.attrs.update(posterior.data.attrs)
    return write_whole(Path(path), lambda draft: tree.to_netcdf(draft, engine="h5netcdf"))


def load(path: str | Path, *, model: str | Path | None = None) -> Any:
    """Read back a posterior that `Posterior.save` wrote, or that of credits or of pairs.

    Parameters
    ----------
    path : str or pathlib.Path
    model : str or pathlib.Path, optional
        The model file, where it is no longer where it was. Its text must be unchanged.

    Returns
    -------
    Posterior, CreditPosterior or PairPosterior

    Raises
    ------
    ReadError
        If the file is missing or is not a saved posterior.
    ModelFileError
        If the model file is missing or has changed since.

    Examples
    --------
    >>> import tempfile, pathlib, bayeseval as be
    >>> counts = be.Counts.from_arrays(correct=[3, 0, 4], generations=[4, 4, 4])
    >>> post = be.fit(counts, engine="quadrature", seed=1, progress=False)
    >>> file = post.save(pathlib.Path(tempfile.mkdtemp()) / "post.nc")
    >>> be.load(file).mean("benchmark").value == post.mean("benchmark").value
    True
    """
    import xarray as xr

    try:
        tree = xr.open_datatree(path, engine="h5netcdf").load()
        attributes = tree.attrs
        prior = {name: tuple(values) for name, values in json.loads(attributes["prior"]).items()}
        draws = {
            group: {str(name): np.asarray(values) for name, values in tree[group].data_vars.items()}
            for group in ("posterior", "sample_stats")
        }
        constant = tree["constant_data"]
        made = json.loads(attributes["made"])
        if "levels" in attributes or "systems" in attributes:
            tree.close()
            of_credits = "levels" in attributes
            kind: Any = CreditPosterior if of_credits else PairPosterior
            results: Any = _credits if of_credits else _pairs
            known = (results(tree), _model_of(attributes, model), prior, draws["posterior"], draws["sample_stats"])
            return kind(*known, str(attributes["engine"]), int(attributes["seed"]), made)
        counts = Counts.from_arrays(
            np.asarray(tree["observed_data"]["correct"]),
            np.asarray(constant["generations"]),
            prompt=[str(prompt) for prompt in np.asarray(constant["prompt"])],
            system=attributes["system"],
            benchmark=attributes["benchmark"],
            group=[str(group) for group in np.asarray(constant["group"])] if "group" in constant else None,
        )
    except (OSError, KeyError, ValueError, TypeError, DataError) as error:
        raise ReadError(f"{path} cannot be read as a saved posterior: {error}") from None
    tree.close()
    found = _model_of(attributes, model)
    exact = None
    if attributes["engine"] == "quadrature":
        exact = exact_under(prior, counts.correct, counts.generations, nodes=DRAW_NODES)
    return Posterior(
        counts,
        found,
        prior,
        draws["posterior"],
        draws["sample_stats"],
        str(attributes["engine"]),
        exact,
        int(attributes["seed"]),
        made,
    )


def _pairs(tree: xr.DataTree) -> Pairs:
    observed, constant = tree["observed_data"], tree["constant_data"]
    one, other = json.loads(tree.attrs["systems"])
    texts = {
        name: np.array([str(value) for value in np.asarray(constant[name])], dtype=object)
        for name in ("prompt", "group")
        if name in constant
    }
    return Pairs(
        (one, other),
        str(tree.attrs["benchmark"]),
        texts["prompt"],
        np.asarray(observed["correct"]),
        np.asarray(constant["generations"]),
        np.asarray(observed["both"]) if "both" in observed else None,
        texts.get("group"),
        tuple(json.loads(tree.attrs["warnings"])),
    )


def _credits(tree: xr.DataTree) -> Credits:
    constant, levels = tree["constant_data"], json.loads(tree.attrs["levels"])
    credit = np.asarray(tree["observed_data"]["credit"], dtype=float)
    columns = {
        name: np.array([str(value) for value in np.asarray(constant[name])], dtype=object)
        for name in ("prompt", "number", "group")
        if name in constant
    }
    numbers = columns["number"]
    whole = all(number.isdigit() for number in numbers)
    return Credits(
        system=np.full(credit.size, tree.attrs["system"], dtype=object),
        benchmark=np.full(credit.size, tree.attrs["benchmark"], dtype=object),
        prompt=columns["prompt"],
        generation=numbers.astype(np.int64) if whole else numbers,
        credit=credit,
        group=columns.get("group"),
        levels=None if levels is None else tuple(levels),
    )


def _model_of(attributes: Mapping[Hashable, Any], model: str | Path | None) -> ModelFile:
    name, path, digest = (attributes[key] for key in ("model", "model_path", "model_digest"))
    for candidate in [model] if model is not None else [name, path]:
        try:
            found = load_model(candidate)
        except ModelFileError:
            continue
        if found.digest == digest:
            return found
    raise ModelFileError(
        f"the posterior was made by model {name!r} with digest {digest[:12]}, and no such file is at hand (it was "
        f"{path}); pass model= with the path of the unchanged file, or fit again"
    )


def _dataset(arrays: dict[str, np.ndarray]) -> xr.Dataset:
    import xarray as xr

    variables = {
        name: (("chain", "draw", *(f"{name}_dim_{axis}" for axis in range(values.ndim - 2))), values)
        for name, values in arrays.items()
    }
    dataset = xr.Dataset(variables)
    sizes = {name: dataset.sizes[name] for name in ("chain", "draw") if name in dataset.sizes}
    return dataset.assign_coords({name: np.arange(size) for name, size in sizes.items()})
