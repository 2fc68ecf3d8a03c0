"""Outputs are written beside their place and renamed: whole or not at all."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from trajanon.errors import BadInput, FileProblem


@contextmanager
def replacing(
    *outputs: Path, inputs: Iterable[Path] = ()
) -> Iterator[tuple[Path, ...]]:
    """Give a file to write in for each output; move all into place at the end.

    Enter it before the long work: what cannot be written is found out first. If the
    block is left by any exception, Ctrl-C among them, the outputs are as they were.

    Parameters
    ----------
    outputs
        Where the results shall stand. What is there is replaced.
    inputs
        Files that are read; none of them may be an output.

    Yields
    ------
    tuple[Path, ...]
        Empty files in the same folders, with the outputs' suffixes.

    Raises
    ------
    BadInput
        If an output is also an input.
    FileProblem
        If an output cannot be written.
    """
    inputs = tuple(inputs)
    for output in outputs:
        _refuse_input(output, inputs)
    with ExitStack() as stack:
        drafts = tuple(stack.enter_context(_draft(output)) for output in outputs)
        try:
            yield drafts
            for draft, output in zip(drafts, outputs, strict=True):
                draft.replace(output)
        except OSError as error:  # of the drafts, such as a full disk; not of others
            name = error.filename
            if name is None or Path(os.fsdecode(name)) not in drafts:
                raise
            msg = f"cannot write {outputs[0]}: {error.strerror}"
            raise FileProblem(msg) from error


def _refuse_input(output: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            msg = f"{output} is read as input; write to another file with --out"
            raise BadInput(msg)


@contextmanager
def _draft(output: Path) -> Iterator[Path]:
    """Make an empty file beside the output, hidden, under a name nobody has."""
    if output.is_dir():
        msg = f"cannot write {output}: it is a folder; name a file with --out"
        raise FileProblem(msg)
    if not output.parent.is_dir():
        msg = f"cannot write {output}: there is no folder {output.parent}"
        raise FileProblem(msg)
    draft = output.with_name(f".{output.stem}-{secrets.token_hex(4)}{output.suffix}")
    try:
        draft.touch(exist_ok=False)
    except OSError as error:
        msg = (
            f"cannot write {output}: {error.strerror}; choose another place with --out"
        )
        raise FileProblem(msg) from error
    try:
        yield draft
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
