"""Result files that something happened to: mutations of bytes, lines, JSON, archives, tables and names, all by seed."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa


@dataclass(frozen=True)
class Victim:
    """A file before anything happened to it, the files beside it, and how it is read."""

    name: str
    content: bytes
    beside: dict[str, bytes]
    options: dict[str, Any]


JUNK = [
    b"null", b"[]", b"{}", b'"x"', b"-1", b"1e999", b"NaN", b"true", b"", b"\xff", b"[[[[", b'{"a":', b"2", b",", b"\0",
    b"\n", b'"', b"PK\3\4", b"\x1f\x8b", b"PAR1", b"\r\n", b"Infinity", b"\\ud800",
]  # fmt: skip
VALUES: list[Any] = [
    None, [], {}, "", "x", -1, 2, 0.5, float("nan"), float("inf"), [None], {"x": None}, [[1, 0], [0]], True, "C", "1",
    10**30, 10**400, "\ud800", "a\0b", [1, [2, [3]]], {"value": {"value": 1}}, " ", "NaN", 1e308, "\u202e",
]  # fmt: skip
SUFFIXES = ["json", "jsonl", "csv", "tsv", "parquet", "eval", "npz", "npy", "jsonl.gz", "csv.gz", "txt"]


def parsed(content: bytes) -> tuple[Any, Callable[[Any], bytes]] | None:
    """The JSON in a file, and how to write it again; None where it is none."""

    def one(value: Any) -> bytes:
        return json.dumps(value).encode()

    def lines(value: Any) -> bytes:
        return b"".join(json.dumps(part).encode() + b"\n" for part in value)

    try:
        return json.loads(content), one
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.splitlines() if line.strip()], lines
    except ValueError:
        return None


def places(value: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return [where, *(place for key, part in inside for place in places(part, (*where, key)))]


def changed(value: Any, where: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not where:
        return change(value)
    copy = value.copy()
    copy[where[0]] = changed(value[where[0]], where[1:], change)
    return copy


def _container(rng: random.Random, change: Callable[[random.Random, Any], Any]) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        return change(rng, value)

    return apply


# Bytes


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def cut_front(rng: random.Random, data: bytes) -> bytes:
    return data[rng.randrange(len(data) + 1) :]


def flip(rng: random.Random, data: bytes) -> bytes:
    copy = bytearray(data)
    for _ in range(rng.choice([1, 2, 5, 50])):
        if copy:
            copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
    return bytes(copy)


def junk(rng: random.Random, data: bytes) -> bytes:
    copy = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(copy) + 1)
        copy[at : at + rng.choice([0, 1, 2, 5, 40, 400])] = rng.choice(JUNK)
    return bytes(copy)


def repeat_piece(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.choice([1, 10, 1000])]
    return data[:at] + piece * rng.choice([2, 50]) + data[at:]


def encoded(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "cp500", "utf-7", "shift_jis"]), "replace")


def zeros(rng: random.Random, data: bytes) -> bytes:
    return data + bytes(rng.choice([1, 4096])) if rng.random() < 0.5 else bytes(rng.choice([1, 4096])) + data


def nothing(rng: random.Random, data: bytes) -> bytes:
    return rng.choice([b"", b"\n", b" ", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b"[" * 100_000, b'{"a":' * 50_000])


# Lines


def lines_moved(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    for _ in range(rng.randint(1, 3)):
        line = lines[rng.randrange(len(lines))]
        where = rng.randrange(len(lines) + 1)
        what = rng.randrange(4)
        if what == 0:
            lines.insert(where, line)
        elif what == 1:
            lines.remove(line) if len(lines) > 1 else None
        elif what == 2:
            lines.insert(where, line[: rng.randrange(len(line) + 1)])
        else:
            rng.shuffle(lines)
    return b"".join(lines)


def gigantic(rng: random.Random, data: bytes) -> bytes:
    long = rng.choice([b"x", b"[", b"1", b" ", b'"a",', b"\\u0041"]) * rng.choice([10**6, 5 * 10**6])
    at = rng.choice([0, len(data), rng.randrange(len(data) + 1)])
    return data[:at] + long + data[at:]


# JSON


def value_swapped(rng: random.Random, data: bytes) -> bytes:
    found = parsed(data)
    if found is None:
        return junk(rng, data)
    value, write = found
    for _ in range(rng.randint(1, 3)):
        where = rng.choice(places(value))
        new = rng.choice(VALUES)
        value = changed(value, where, lambda _, new=new: new)
    return write(value if isinstance(value, list) or write.__name__ == "one" else [value])


def keys_renamed(rng: random.Random, data: bytes) -> bytes:
    found = parsed(data)
    if found is None:
        return junk(rng, data)
    value, write = found
    objects = [place for place in places(value) if _at(value, place) and isinstance(_at(value, place), dict)]
    for place in rng.sample(objects, min(len(objects), rng.randint(1, 3))):

        def rename(record: Any) -> Any:
            if not isinstance(record, dict) or not record:
                return record
            key = rng.choice(list(record))
            renamed = rng.choice(["", key.upper(), f"{key} ", "x", "id", "score", "correct", "epoch", None])
            return {
                (renamed if name == key else name): part
                for name, part in record.items()
                if name != key or renamed is not None
            }

        try:
            value = changed(value, place, rename)
        except (KeyError, IndexError):
            continue  # the place is gone with a key above it
    return write(value)


def elements_repeated(rng: random.Random, data: bytes) -> bytes:
    found = parsed(data)
    if found is None:
        return lines_moved(rng, data)
    value, write = found
    lists = [place for place in places(value) if isinstance(_at(value, place), list) and _at(value, place)]
    if not lists:
        return data

    def change(items: Any) -> Any:
        at = rng.randrange(len(items))
        return rng.choice([[*items, items[at]], items[:at] + items[at + 1 :], [items], items[::-1], items * 3])

    return write(changed(value, rng.choice(lists), change))


def _at(value: Any, where: tuple[Any, ...]) -> Any:
    for key in where:
        value = value[key]
    return value


# Archives


def members(data: bytes) -> list[tuple[zipfile.ZipInfo, bytes]]:
    """The members of a zip archive with their packed bytes, whatever their compression."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found = []
        for info in archive.infolist():
            start = (
                info.header_offset
                + 30
                + sum(struct.unpack("<HH", data[info.header_offset + 26 : info.header_offset + 30]))
            )
            found.append((info, data[start : start + info.compress_size]))
        return found


def packed(parts: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    body, directory = io.BytesIO(), io.BytesIO()
    for info, raw in parts:
        name = info.filename.encode()
        common = struct.pack("<HHHHHIIIHH", 20, info.flag_bits & 0x800, info.compress_type, 0, 33, info.CRC, len(raw),
                             info.file_size, len(name), 0)  # fmt: skip
        directory.write(
            b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, body.tell()) + name
        )
        body.write(b"PK\3\4" + common + name + raw)
    start = body.tell()
    body.write(directory.getvalue())
    end = (0, 0, len(parts), len(parts), len(directory.getvalue()), start, 0)
    return body.getvalue() + b"PK\5\6" + struct.pack("<HHHHIIH", *end)


def unpacked(info: zipfile.ZipInfo, raw: bytes) -> bytes:
    import zlib

    if info.compress_type == 8:
        return zlib.decompress(raw, -15)
    return pa.decompress(raw, info.file_size, codec="zstd", asbytes=True) if info.compress_type == 93 else raw  # type: ignore[no-any-return]


def archive_changed(rng: random.Random, data: bytes) -> bytes:
    parts = members(data)
    at = rng.randrange(len(parts))
    info, raw = parts[at]
    what = rng.randrange(6)
    if what == 0:
        parts.pop(at)
    elif what == 1:
        parts.append(parts[at])
    elif what == 2:
        info.filename = rng.choice(
            ["header.json", "summaries.json", "../x.json", "samples/x_epoch_1.json", "", info.filename + "x"]
        )
    elif what == 3:
        info.file_size = rng.choice([0, 2**31, 2**32 - 1, info.file_size + 1])
    elif what == 4:
        parts = [part for part in parts if rng.random() < 0.5] or parts
    else:
        import zlib

        inside = rng.choice([value_swapped, keys_renamed, elements_repeated, cut, junk])(rng, unpacked(info, raw))
        info.CRC, info.file_size, info.compress_type = zlib.crc32(inside), len(inside), 0
        parts[at] = (info, inside)
    return packed(parts)


# Tables


def csv_changed(rng: random.Random, data: bytes) -> bytes:
    rows = list(csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline="")))
    if not rows:
        return data
    row = rows[rng.randrange(len(rows))]
    what = rng.randrange(7)
    if what == 0 and row:
        row[rng.randrange(len(row))] = rng.choice(
            ["", "x", "NaN", "-1", "1e999", "0.5", '"', "[1, 0]", "null", "9" * 400, "\0", "C"]
        )
    elif what == 1 and row:
        row.pop(rng.randrange(len(row)))
    elif what == 2:
        row.append("extra")
    elif what == 3:
        rows[0] = [rng.choice(["", name, "x", rows[0][0]]) for name in rows[0]]
    elif what == 4:
        rows.insert(rng.randrange(len(rows) + 1), list(row))
    elif what == 5:
        gone = rng.randrange(max(len(rows[0]), 1))
        rows = [cells[:gone] + cells[gone + 1 :] for cells in rows]
    out = io.StringIO(newline="")
    csv.writer(
        out, delimiter=rng.choice([",", ",", ";", "\t", "|"]), lineterminator=rng.choice(["\n", "\r\n", "\r"])
    ).writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def parquet_changed(rng: random.Random, data: bytes) -> bytes:
    frame = pl.read_parquet(io.BytesIO(data))
    if not frame.width:
        return data
    name = rng.choice(frame.columns)
    column = frame[name]
    what = rng.randrange(7)
    try:
        if what == 0:
            frame = frame.drop(name)
        elif what == 1:
            frame = frame.rename({name: rng.choice(["x", "score", "correct", f"{name} ", "doc", "metric"])})
        elif what == 2:
            frame = frame.with_columns(
                column.cast(rng.choice([pl.String, pl.Float64, pl.Int8, pl.Boolean]), strict=False)
            )
        elif what == 3:
            frame = frame.with_columns(pl.lit(None, dtype=column.dtype).alias(name))
        elif what == 4:
            frame = pl.concat([frame, frame[: rng.randint(1, 3)]])
        elif what == 5:
            frame = frame[:0]
        else:
            frame = frame.with_columns(pl.Series(name, [[value] for value in column.to_list()]))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError):
        frame = frame.drop(name)
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def arrays_changed(rng: random.Random, data: bytes) -> bytes:
    single = data.startswith(b"\x93NUMPY")
    with np.errstate(all="ignore"):
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        arrays = {"": loaded} if single else dict(loaded)
        name = rng.choice(list(arrays))
        array = arrays[name]
        new: Any = rng.choice([
            array.reshape(-1), array[None], array[:0], array.astype(str), array.astype(complex), array.T, array * 3,
            np.full(array.shape, np.nan), array[..., None, None], np.zeros(array.shape, dtype="datetime64[s]"),
            np.array("x"),
        ])  # fmt: skip
    arrays[name] = new
    out = io.BytesIO()
    np.save(out, new) if single else np.savez(out, **arrays)
    return out.getvalue()


# Nothing of meaning


def harmless(rng: random.Random, victim: Victim) -> bytes | None:
    """The same content in other bytes; None where there is no such way."""
    name, data = victim.name, victim.content
    ways: list[Callable[[], bytes]] = []
    if name.endswith((".jsonl", ".csv", ".tsv", ".json")):
        ways += [lambda: b"\xef\xbb\xbf" + data]
    if name.endswith(".jsonl"):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        ways += [
            lambda: b"\n".join([*lines[:at], b"", b"  ", *lines[at:]]),
            lambda: data.rstrip(b"\n"),
            lambda: data.replace(b"\n", b"\r\n"),
        ]
    found = parsed(data) if name.endswith((".json", ".jsonl")) else None
    if found is not None and b'"' in data:
        value, write = found
        ways += [lambda: write(changed(value, (), _reordered(rng))), lambda: write(value)]
    if data[:2] == b"PK" and name.endswith(".eval"):
        ways += [lambda: packed(rng.sample(parts := members(data), len(parts)))]
    return rng.choice(ways)() if ways else None


def _reordered(rng: random.Random) -> Callable[[Any], Any]:
    """Keys of all records in another order; the order of lists is left as it is."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            names = list(value)
            if not {"provider", "vars"} & set(names):
                rng.shuffle(names)
            return {name: change(value[name]) for name in names}
        return [change(part) for part in value] if isinstance(value, list) else value

    return change


def mutate(rng: random.Random, victim: Victim) -> tuple[str, bytes]:
    """A name and bytes that something happened to, once or twice."""
    name, data = victim.name, victim.content
    for _ in range(rng.choice([1, 1, 1, 2])):
        general = [cut, cut_front, flip, junk, repeat_piece, encoded, zeros, nothing, lines_moved, gigantic]
        special: list[Callable[[random.Random, bytes], bytes]] = []
        if data[:2] == b"PK" and name.endswith(".eval"):
            special = [archive_changed]
        elif name.endswith(".parquet"):
            special = [parquet_changed]
        elif name.endswith((".npy", ".npz")):
            special = [arrays_changed]
        elif name.endswith(".csv"):
            special = [csv_changed]
        elif name.endswith((".json", ".jsonl")):
            special = [value_swapped, keys_renamed, elements_repeated]
        change = rng.choice(special if special and rng.random() < 0.65 else general)
        try:
            data = change(rng, data)
        except Exception:  # what was damaged before cannot be taken apart again
            data = junk(rng, data)
    if rng.random() < 0.1:
        stem, _, suffix = name.rpartition(".")
        name = f"{stem}.{rng.choice([*SUFFIXES, suffix])}"
    if rng.random() < 0.05:
        data = gzip.compress(data)
        data = data[: rng.choice([len(data), len(data) // 2])]
    return re.sub(r"[\0]", "", name), data
