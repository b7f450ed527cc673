"""Generations on disk: one line each, appended as they are made, so that a run that was cut off goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bayeseval.coupling.noise import hashed
from bayeseval.errors import OptionError, ReadError
from bayeseval.files import write_whole

__all__ = ["Key", "Store"]

Key = tuple[str, str, int]
"""System, prompt, generation."""

LINES = "generations.jsonl"
SETTINGS = "settings.json"


class Store:
    """A folder with the settings of a run and its generations so far; without a folder, a dictionary.

    Parameters
    ----------
    folder : str, pathlib.Path or None
        Made if need be.
    settings : mapping
        What all generations have in common; it must be what the folder has.
    systems : mapping of str to str
        Fingerprints by name; those the folder has must not have changed.
    prompts : mapping of str to str
        Texts by id; those the folder has must not have changed.

    Raises
    ------
    OptionError
        If a setting, a system or a prompt is another one than in the folder.
    ReadError
        If a file there is damaged. A last line that was cut off is no damage: that generation is made again.
    """

    def __init__(
        self,
        folder: str | Path | None,
        settings: Mapping[str, Any],
        systems: Mapping[str, str],
        prompts: Mapping[str, str],
    ) -> None:
        self.answers: dict[Key, str] = {}
        self.folder = None if folder is None else Path(folder).expanduser()
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(f"{self.folder} cannot be made: {error.strerror or error}; choose another path") from None
        own = {
            "settings": dict(settings),
            "systems": dict(systems),
            "prompts": {prompt: hashed(text, 8).hex() for prompt, text in prompts.items()},
        }
        path = self.folder / SETTINGS
        known = _read_settings(path)
        for part, noun in (("settings", "setting"), ("systems", "system"), ("prompts", "text of prompt")):
            _refuse_changes(self.folder, noun, known.get(part, {}), own[part], whole=part == "settings" and bool(known))
        joined = {part: {**known.get(part, {}), **own[part]} for part in own}
        if joined != known:
            write_whole(path, lambda draft: draft.write_text(json.dumps(joined, indent=1), encoding="utf-8"))
        self.answers = _read_lines(self.folder / LINES)

    def add(self, made: Iterable[tuple[Key, str]]) -> None:
        """Keep generations, and write them before the next ones are made."""
        new = dict(made)
        if self.folder is not None:
            lines = [
                json.dumps({"system": system, "prompt": prompt, "generation": number, "answer": answer})
                for (system, prompt, number), answer in new.items()
            ]
            with (self.folder / LINES).open("a", encoding="ascii", newline="\n") as file:
                file.write("".join(f"{line}\n" for line in lines))
        self.answers.update(new)


def _read_settings(path: Path) -> dict[str, dict[str, Any]]:
    if not path.is_file():
        if (path.parent / LINES).is_file():
            raise ReadError(f"{path.parent} has {LINES} but no {SETTINGS}, so nobody knows how they were made")
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(known, dict) and all(isinstance(part, dict) for part in known.values()):
            return known
    except (OSError, ValueError):
        pass
    raise ReadError(f"{path} cannot be read as the settings of coupled generations; choose another folder")


def _refuse_changes(folder: Path, noun: str, old: Mapping[str, Any], new: Mapping[str, Any], whole: bool) -> None:
    names = [name for name in new if (name in old or whole) and old.get(name) != new[name]]
    if not names:
        return
    name = names[0]
    values = f": {old.get(name)!r} there, {new[name]!r} now" if noun == "setting" else ""
    raise OptionError(
        f"the generations in {folder} were made with another {noun} {name!r}{values}. Go on with the same, or choose "
        f"another folder"
    )


def _read_lines(path: Path) -> dict[Key, str]:
    if not path.is_file():
        return {}
    raw = path.read_bytes()
    whole = raw.rfind(b"\n") + 1
    if whole < len(raw):  # cut off while it was written
        with path.open("r+b") as file:
            file.truncate(whole)
    answers: dict[Key, str] = {}
    for place, line in enumerate(raw[:whole].split(b"\n")[:-1], start=1):
        try:
            row = json.loads(line)
            key, answer = (row["system"], row["prompt"], row["generation"]), row["answer"]
            fits = isinstance(answer, str) and [type(part) for part in key] == [str, str, int]
        except (ValueError, KeyError, TypeError):
            fits = False
        if not fits:
            raise ReadError(f"{path}, line {place}: not a generation; take the line out, and it will be made again")
        if key in answers:
            raise ReadError(
                f"{path}, line {place}: generation {key[2]} of prompt {key[1]!r} by {key[0]} stands there twice; take "
                f"one of the lines out"
            )
        answers[key] = answer
    return answers
