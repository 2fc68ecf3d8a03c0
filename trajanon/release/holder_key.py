"""The holder's secret key: its file, its checks, and the seed of the search from it."""

import logging
import os
import secrets
from hashlib import blake2b
from pathlib import Path

import platformdirs

from trajanon.common.atomic_output import make_secret_file
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import regular

_LOG = logging.getLogger(__name__)

KEY_BYTES = 32
"""Length of a key in a file."""

# A key that is passed in Python may have another length; BLAKE2b takes 64 bytes at most.
_FEWEST_BYTES = 16
_MOST_BYTES = 64

_PERMISSIONS_OF_OTHERS = 0o077  # the bits of a file's mode for its group and for everybody


def key_path() -> Path:
    """Return the file of the holder's key, unless another is named."""
    return platformdirs.user_data_path("trajanon") / "holder.key"


def holders_key(path: Path | None = None) -> bytes:
    """Read the holder's key from its usual file or the one named; make it if there is none.

    Raises
    ------
    BadInput
        If the file holds no key, or others can read it.
    FileProblem
        If it cannot be read, or not be made.
    """
    key_file = path or key_path()
    try:
        if not key_file.exists():
            _make_key_file(key_file, private_folder=path is None)
        mode = regular(key_file).stat().st_mode
        key = key_file.read_bytes()
    except OSError as error:
        reason = error.strerror or "there is no such folder"
        raise FileProblem(
            f"cannot keep your key in {key_file} ({reason}): name a file for it with `key`"
        ) from error

    if len(key) != KEY_BYTES:
        raise BadInput(
            f"{key_file} is not a key: it has {len(key)} bytes, and a key {KEY_BYTES}; restore its "
            "latest copy, or name another file with `key`"
        )
    check_key(key)

    if os.name == "posix" and mode & _PERMISSIONS_OF_OTHERS:
        raise BadInput(
            f"others can read {key_file}, which must be secret: if nobody did, chmod 600 it; or "
            "name another file with `key`"
        )
    return key


def check_key(key: object) -> None:
    """Refuse a key that is not of 16 to 64 bytes, or has the same byte everywhere."""
    if not isinstance(key, bytes) or not _FEWEST_BYTES <= len(key) <= _MOST_BYTES:
        length_or_type = len(key) if isinstance(key, bytes) else type(key).__name__
        raise BadInput(
            f"`key` must have {_FEWEST_BYTES} to {_MOST_BYTES} bytes (got {length_or_type}), or be "
            "left out"
        )
    if len(set(key)) == 1:
        raise BadInput("`key` has the same byte everywhere, and is not secret: leave it out")


def fingerprint(key: bytes) -> str:
    """Return a hash by which keys can be told apart, and from which no key can be computed."""
    return blake2b(key=key, digest_size=8, person=b"fingerprint").hexdigest()


def search_seed(key: bytes, seed: int) -> int:
    """Compute the seed of the search, which nobody can do without the key.

    It depends on the key and the user's seed alone, not on the data: so releases of nearly the same
    data have nearly the same groups.
    """
    search_hash = blake2b(str(seed).encode(), key=key, digest_size=16, person=b"search")
    return int.from_bytes(search_hash.digest(), "little")


def key_of_trials(fingerprint: str | None) -> bytes:
    """Compute a key for releases that are made only to be measured; it is not the holder's."""
    return blake2b(str(fingerprint).encode(), digest_size=KEY_BYTES, person=b"trials").digest()


def _make_key_file(path: Path, *, private_folder: bool) -> None:
    """Write a new random key; if two runs do so at once, the key of the first stays."""
    # Without a home folder, platformdirs returns a relative path.
    if not path.is_absolute() and private_folder:
        raise FileNotFoundError  # without a reason: the caller has the sentence
    if private_folder:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    if make_secret_file(path, lambda draft: draft.write_bytes(secrets.token_bytes(KEY_BYTES))):
        its_releases = "all your releases" if private_folder else "releases that name it"
        _LOG.info(
            "created %s, the key of %s: keep a copy, and show it to nobody", path, its_releases
        )
