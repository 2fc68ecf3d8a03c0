"""Pages of the OSM API on disk, so that none is asked for twice."""

import gzip
import logging
import re
from contextlib import suppress
from datetime import datetime
from itertools import count, takewhile
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from trajanon.extract.sources.gpx.gpx_document import Document, read
from trajanon.outputs import replacing

logger = logging.getLogger(__name__)


class PageCache:
    """The pages of one box of one server, a file each; empty where no folder can be made."""

    def __init__(self, root: Path | None, url: str, bbox: str, *, refresh: bool) -> None:
        root = root or platformdirs.user_cache_path("trajanon") / "osm-api"
        parts = urlsplit(url)
        names = (parts.hostname, parts.port, parts.path.strip("/"), bbox)
        name = "_".join(str(name) for name in names if name)
        self._folder = root / re.sub(r"[^\w.-]", "_", name)
        self._refresh = refresh
        self._reads = self._writes = True
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)  # an earlier version made it for everybody
            for path in self._folder.glob("page*.gpx.gz") if self._refresh else ():
                path.unlink()
        except OSError as error:
            self._reads = False
            self._give_up(error)
        if kept := len(self):
            day = datetime.fromtimestamp(self._path(0).stat().st_mtime).astimezone()
            logger.info("%d pages from the cache of %s", kept, day.date())

    def __len__(self) -> int:
        """Count the pages without a gap."""
        if not self._reads:
            return 0
        return sum(1 for _ in takewhile(Path.exists, map(self._path, count())))

    def read(self, number: int) -> Document | None:
        """Read a page; None if it is not there, or damaged."""
        path = self._path(number)
        with suppress(OSError):  # a `FileProblem` among them
            return read(path.read_bytes(), str(path)) if self._reads else None
        return None

    def write(self, number: int, content: bytes) -> None:
        """Keep a page, if the disk lets us."""
        if not self._writes:
            return
        try:
            with replacing(self._path(number)) as (draft,):
                draft.write_bytes(gzip.compress(content))
        except OSError as error:
            self._give_up(error)

    def way_on(self) -> str:
        """Say what is kept, and how to go on after a failure."""
        again = "run the same command again"
        if self._refresh:
            again = "run the command again without `refresh`"
        if not len(self):
            return f"{again} later"
        return f"the pages downloaded so far ({len(self)}) are kept, {again} to go on"

    def _give_up(self, error: OSError) -> None:
        self._writes = False
        logger.warning(
            "cannot keep pages in %s (%s): an interrupted download starts anew",
            self._folder,
            error.strerror or error,
        )

    def _path(self, number: int) -> Path:
        return self._folder / f"page{number:04d}.gpx.gz"
