"""The holder's key: made once, for the holder's eyes alone; and what is drawn by it."""

import logging
import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import platformdirs

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.inputs import regular

_LOG = logging.getLogger(__name__)

BYTES = 32
"""Length of a holder's key."""

_LEAST = 16  # bytes of a key that is given in Python
_MOST = 64
_OTHERS = 0o077  # permissions of a file that are not its owner's


def key_path() -> Path:
    """Return where the holder's key is kept, unless another is named."""
    return platformdirs.user_data_path("trajanon") / "holder.key"


def holders_key(path: Path | None = None) -> bytes:
    """Read the holder's key, from its place or a file that is named; make it if there is none.

    Raises
    ------
    BadInput
        If the file holds no key, or others can read it.
    FileProblem
        If it cannot be read, or not be made.
    """
    place = path or key_path()
    try:
        if not place.exists():
            _make(place, private_folder=path is None)
        mode = regular(place).stat().st_mode
        key = place.read_bytes()
    except OSError as error:
        because = error.strerror or "there is no such folder"
        raise FileProblem(
            f"cannot keep your key in {place} ({because}): name a file for it with `key`"
        ) from error

    if len(key) != BYTES:
        raise BadInput(
            f"{place} is no key: it has {len(key)} bytes, and a key {BYTES}; take its last copy, "
            "or name another file with `key`"
        )
    check_key(key)
    if os.name == "posix" and mode & _OTHERS:
        raise BadInput(
            f"others can read {place}, which must be secret: if nobody did, chmod 600 it; or name "
            "another file with `key`"
        )
    return key


def check_key(key: object) -> None:
    """Refuse what is no secret of 16 to 64 bytes."""
    if not isinstance(key, bytes) or not _LEAST <= len(key) <= _MOST:
        got = len(key) if isinstance(key, bytes) else type(key).__name__
        raise BadInput(f"`key` must have {_LEAST} to {_MOST} bytes (got {got}), or be left out")
    if len(set(key)) == 1:
        raise BadInput("`key` has the same byte everywhere, and is no secret: leave it out")


def fingerprint(key: bytes) -> str:
    """Return what tells keys apart, and tells nothing else of them."""
    return blake2b(key=key, digest_size=8, person=b"fingerprint").hexdigest()


def search_seed(key: bytes, seed: int) -> int:
    """Return the seed of the search, which nobody without the key can draw.

    It follows from nothing else: releases of nearly the same data have nearly the same groups.
    """
    drawn = blake2b(str(seed).encode(), key=key, digest_size=16, person=b"search")
    return int.from_bytes(drawn.digest(), "little")


def key_of_trials(fingerprint: str | None) -> bytes:
    """Return a key for releases that are made to be measured, never the holder's own."""
    return blake2b(str(fingerprint).encode(), digest_size=BYTES, person=b"trials").digest()


def _make(path: Path, *, private_folder: bool) -> None:
    """Draw a new key; it has its name once it is whole, and of two at once the first stays."""
    if not path.is_absolute() and private_folder:  # there is no home
        raise FileNotFoundError
    if private_folder:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    try:
        writable = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(writable, "wb") as file:
            file.write(secrets.token_bytes(BYTES))
            file.flush()
            os.fsync(file.fileno())

        with suppress(FileExistsError):  # another run has made one meanwhile
            os.link(draft, path)
            releases = "all your releases" if private_folder else "releases that name it"
            _LOG.info("made %s, the key of %s: keep a copy, and show it to nobody", path, releases)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
