"""What people type: metrics, priors, columns, lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from bayeseval.errors import OptionError
from bayeseval.metrics import Metric
from bayeseval.metrics.names import metric_named
from bayeseval.planning import SystemGuess

__all__ = [
    "columns_from", "guess_from", "levels_from", "metric_from", "numbers_from", "priors_from", "published_from",
    "tokens_from",
]  # fmt: skip


def metric_from(text: str) -> Metric:
    """A metric as people write it; see `bayeseval.metrics.names.metric_named`.

    Examples
    --------
    >>> metric_from("g-pass@16:0.5").name
    'G-Pass@16 (τ = 0.5)'
    """
    return metric_named(text, "--metric")


def priors_from(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Prior parameters by name.

    Examples
    --------
    >>> priors_from(["mu=0.5,0.5"])
    {'mu': (0.5, 0.5)}
    """
    priors = {}
    for text in texts:
        name, equals, values = text.partition("=")
        try:
            priors[name.strip()] = tuple(float(value) for value in values.split(","))
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise OptionError(f"--prior must look like mu=0.5,0.5, but {text!r} was given")
    return priors


def columns_from(texts: Sequence[str]) -> dict[str, str | list[str] | bool]:
    """Columns by role; several for a role are joined, and none means that there is no such column.

    Examples
    --------
    >>> columns_from(["system=checkpoint", "benchmark=task,condition", "group="])
    {'system': 'checkpoint', 'benchmark': ['task', 'condition'], 'group': False}
    """
    named: dict[str, list[str]] = {}
    for text in texts:
        role, equals, column = text.partition("=")
        if not equals or not role.strip():
            raise OptionError(f"--column must look like system=checkpoint, but {text!r} was given")
        named.setdefault(role.strip(), []).extend(column.split(","))
    return {
        role: False if columns == [""] else columns[0] if len(columns) == 1 else columns
        for role, columns in named.items()
    }


def numbers_from(text: str) -> list[int]:
    """Whole numbers between commas.

    Examples
    --------
    >>> numbers_from("4, 8,16")
    [4, 8, 16]
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"--generations must look like 4,8,16, but {text!r} was given") from None


def levels_from(text: str) -> tuple[float, ...]:
    """Levels of credit between commas.

    Examples
    --------
    >>> levels_from("0, 0.5, 1")
    (0.0, 0.5, 1.0)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"--levels must look like 0,0.5,1, but {text!r} was given") from None


def published_from(text: str) -> tuple[float, float, int, int]:
    """Mean, standard error, prompts and generations of a published score.

    Examples
    --------
    >>> published_from("0.856,0.0068,1319,50")
    (0.856, 0.0068, 1319, 50)
    """
    try:
        mean, se, prompts, generations = text.split(",")
        return float(mean), float(se), int(prompts), int(generations)
    except ValueError:
        raise OptionError(
            f"--published must be mean, standard error, prompts and generations, such as 0.856,0.0068,1319,50, but "
            f"{text!r} was given"
        ) from None


def tokens_from(text: str) -> dict[str, float]:
    """Tokens and prices, as arguments of `Cost.of_tokens`.

    Examples
    --------
    >>> tokens_from("200,1500,0.25,2")
    {'prompt_tokens': 200.0, 'generation_tokens': 1500.0, 'input_price': 0.25, 'output_price': 2.0}
    """
    names = ("prompt_tokens", "generation_tokens", "input_price", "output_price")
    try:
        return dict(zip(names, [float(part) for part in text.split(",")], strict=True))
    except ValueError:
        raise OptionError(
            f"--tokens must be tokens of a prompt and of a generation and prices of a million of each, such as "
            f"200,1500,0.25,2, but {text!r} was given"
        ) from None


def guess_from(text: str) -> SystemGuess:
    """A guessed system.

    Examples
    --------
    >>> guess_from("new=0.63,0.3")
    SystemGuess(mean=0.63, sd=0.3, name='new')
    """
    name, _, numbers = text.rpartition("=")
    try:
        mean, sd = (float(part) for part in numbers.split(","))
    except ValueError:
        name = ""
    if not name.strip():
        raise OptionError(f"--guess must look like new=0.63,0.3, but {text!r} was given")
    return SystemGuess(mean, sd, name.strip())
