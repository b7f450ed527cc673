"""Files of evaluation tools opened within bounds: compressed ones as streams, members of archives one at a time."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bayeseval.errors import BayesevalError, MissingDependencyError, ReadError
from bayeseval.readers.frames import first_line
from bayeseval.readers.tables import reading

__all__ = ["LIMIT", "Archive", "beginning", "content", "lines", "parsed", "refuse_growth", "unharmed"]

LIMIT = 2**30
"""So many bytes may come out of a compressed file or a member of an archive: 1 GiB."""

_RATIO, _SMALL = 400, 2**26
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZSTD_IN_ZIP = 93


@contextmanager
def unharmed(path: Path, what: str) -> Iterator[None]:
    """Turn whatever goes wrong with the content of a file into one sentence that names it."""
    try:
        with reading(path):
            yield
    except BayesevalError:
        raise
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as problem:  # a strange file meets code of many libraries; Polars panics outside Exception
        raise ReadError(
            f"{path} looks like {what}, but is damaged, cut off or of a form that is not known: "
            f"{type(problem).__name__}: {first_line(problem)}"
        ) from problem


def beginning(path: Path, size: int) -> tuple[bytes, bool]:
    """The first bytes of a file, decompressed, and whether they are all of it."""
    head = bytearray()
    with reading(path):
        try:
            with path.open("rb") as raw:
                stream = _stream(raw, path)
                while len(head) <= size and (part := stream.read(min(2**14, size + 1 - len(head)))):
                    head += part
            return bytes(head[:size]), len(head) <= size
        except (BayesevalError, FileNotFoundError, PermissionError):
            raise
        except Exception:  # every library has its own errors; who reads the file says what is wrong
            return bytes(head) or path.read_bytes()[:size], False


def content(path: Path) -> bytes:
    """All of a file, decompressed; more than `LIMIT` bytes out of a compressed one are refused."""
    with reading(path), path.open("rb") as raw:
        stream = _stream(raw, path)
        if stream is raw:
            return raw.read()
        return _bounded(stream, _most(path), f"{path}")


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines of a file that are not blank, with their numbers, one at a time."""
    with reading(path), path.open("rb") as raw:
        stream = _stream(raw, path)
        plain = raw if stream is raw else io.BufferedReader(_Readable(stream, path), 2**20)
        for number, line in enumerate(plain, 1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line


def parsed(data: bytes, where: str) -> Any:
    """The value of a JSON text; NaN is allowed, as Python's own writers make it."""
    try:
        return json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as problem:
        raise ReadError(f"{where} is no whole JSON: {first_line(problem)}. It is damaged or was cut off") from None


class Archive:
    """A zip file whose members are read one at a time and within bounds, also those compressed with Zstandard.

    Python before 3.14 knows nothing of method 93 (Zstandard); the package `zstandard`, or PyArrow, undoes it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with reading(path), zipfile.ZipFile(path) as archive:
                self.members = {info.filename: info for info in archive.infolist()}
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, RuntimeError) as problem:
            raise ReadError(
                f"{path} is no whole zip archive: {first_line(problem)}. It is damaged or was cut off; copy it again"
            ) from None

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def json(self, name: str) -> Any:
        """The value of one member that holds JSON."""
        return parsed(self.read(name), f"{name} in {self.path}")

    def read(self, name: str) -> bytes:
        """The bytes of one member.

        Raises
        ------
        ReadError
            If there is no such member, it is damaged, or it would grow beyond all measure.
        """
        where = f"{name} in {self.path}"
        info = self.members.get(name)
        if info is None:
            raise ReadError(f"{self.path} has no member {name!r}")
        refuse_growth(info, where)
        with unharmed(self.path, "a zip archive"), self.path.open("rb") as raw:
            raw.seek(info.header_offset)
            header = raw.read(30)
            raw.seek(sum(struct.unpack("<HH", header[26:30])), io.SEEK_CUR)
            packed = raw.read(info.compress_size)
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD_IN_ZIP):
                raise ReadError(f"{where} is encrypted or compressed in a way that is not read: pack the file anew")
            if info.compress_type == _ZSTD_IN_ZIP:
                data = _bounded(_zstd(io.BytesIO(packed), self.path), info.file_size, where)
            elif info.compress_type == zipfile.ZIP_DEFLATED:
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, info.file_size + 1)
            else:
                data = packed
            if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
                raise ReadError(f"{where} is damaged: its size or check sum is wrong. Copy the file again")
        return data


_TOO_LARGE = (
    f"would decompress to more than {LIMIT // 2**30} GiB, or to far more than results do: it is refused to keep the "
    "memory of this machine. If it is sound, decompress it yourself"
)


def refuse_growth(info: zipfile.ZipInfo, where: str) -> None:
    """Refuse a member of a zip archive that says of itself that it would grow beyond all measure."""
    if info.file_size > min(LIMIT, max(_SMALL, _RATIO * info.compress_size)):
        raise ReadError(f"{where} {_TOO_LARGE}")


def _most(path: Path) -> int:
    """So many bytes may come out of a compressed file: results shrink to a tenth or so, not to a thousandth."""
    return min(LIMIT, max(_SMALL, _RATIO * path.stat().st_size))


def _bounded(stream: IO[bytes], most: int, where: str) -> bytes:
    whole = io.BytesIO()  # whose value is no second copy
    while part := stream.read(min(2**20, most + 1 - whole.tell())):
        whole.write(part)
        if whole.tell() > most:
            raise ReadError(f"{where} {_TOO_LARGE}")
    return whole.getvalue()


class _Readable(io.RawIOBase):
    """A stream of any library as one that can be buffered and cut into lines, within bounds."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path, self._left = stream, path, _most(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._stream.read(len(buffer))
        self._left -= len(part)
        if self._left < 0:
            raise ReadError(f"{self._path} {_TOO_LARGE}")
        buffer[: len(part)] = part
        return len(part)


def _stream(raw: IO[bytes], path: Path) -> IO[bytes]:
    magic = raw.read(4)
    raw.seek(0)
    if magic[:2] == _GZIP:
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    return _zstd(raw, path) if magic == _ZSTD else raw


def _zstd(raw: IO[bytes], path: Path) -> IO[bytes]:
    """A stream that undoes Zstandard, by whichever library is there; it is looked for only now."""
    for module in ("compression.zstd", "zstandard", "pyarrow"):
        try:
            library: Any = importlib.import_module(module)
        except ImportError:
            continue
        if module == "compression.zstd":
            return library.ZstdFile(raw)
        if module == "zstandard":
            return library.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return library.CompressedInputStream(raw, "zstd")
    raise MissingDependencyError(
        f"{path} is compressed with Zstandard, which needs the package zstandard before Python 3.14: pip install "
        "'bayeseval[zstd]'"
    )
