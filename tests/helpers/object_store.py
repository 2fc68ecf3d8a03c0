"""An S3 server on this computer, which can kill the worker that asks it for something."""

import logging
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import psutil
import pytest
from s3fs import S3FileSystem

Deadly = Callable[[str, str], bool]
"""Whether a worker is killed that sends a request of this method in this step of a run."""


class ObjectStore:
    """The server; it notes what is asked of it.

    A worker is killed when its request is done, before it hears of that.
    """

    def __init__(self) -> None:
        # Not above: each worker would load them for the tests of one.
        from moto.moto_server.werkzeug_app import (
            DomainDispatcherApplication,
            MotoRequestHandler,
            create_backend_app,
        )
        from werkzeug.serving import make_server

        self._app = DomainDispatcherApplication(create_backend_app)
        self.server = make_server("127.0.0.1", 0, self, True, request_handler=MotoRequestHandler)
        self._one_at_a_time = Lock()
        self._buckets = 0
        self.watch()

    def watch(self, deadly: Deadly = lambda step, method: False) -> None:
        """Forget what was asked, and say what is deadly from now on."""
        self.deadly, self.step = deadly, ""
        self.asked: dict[str, set[str]] = defaultdict(set)  # methods, by the step of the run
        self.killed: list[str] = []  # steps in which a worker was killed

    def progress(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Note the step."""
        self.step = task

    def __call__(self, environ: dict[str, Any], respond: Any) -> Iterable[bytes]:
        """Answer a request."""
        step, method = self.step, environ["REQUEST_METHOD"]
        self.asked[step].add(method)
        answer: Iterable[bytes] = self._app(environ, respond)
        with self._one_at_a_time:
            if self.deadly(step, method) and (worker := _worker(environ["REMOTE_PORT"])):
                self.killed.append(step)
                os.kill(worker, signal.SIGKILL)
        return answer

    def new_bucket(self) -> str:
        """Make a bucket, and give its URL."""
        self._buckets += 1
        S3FileSystem().mkdir(f"bucket-{self._buckets}")
        return f"s3://bucket-{self._buckets}"


def _worker(port: int) -> int:
    """Find the process begun by this one that has a connection from a port; 0 if it is another."""
    for process in psutil.Process().children(recursive=True):
        try:
            if any(end.laddr and end.laddr.port == port for end in process.net_connections()):
                return int(process.pid)
        except psutil.Error:  # it has ended
            continue
    return 0


@contextmanager
def serving() -> Iterator[ObjectStore]:
    """Serve this process, and those that it begins from now on."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = ObjectStore()
    Thread(target=store.server.serve_forever, daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{store.server.server_port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "something")
        for settings in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
            patch.setenv(settings, os.devnull)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield store
    store.server.shutdown()


def upload(folder: Path, url: str) -> str:
    """Copy a folder to the store; give its URL."""
    S3FileSystem().put(f"{folder}/", f"{url}/", recursive=True)
    return url


def download(url: str, folder: Path) -> Path:
    """Copy a folder from the store."""
    S3FileSystem(skip_instance_cache=True).get(f"{url}/", f"{folder}/", recursive=True)
    return folder


def contents(bucket: str) -> list[str]:
    """What is in a bucket: the names of all objects, and of uploads that have not ended."""
    s3, name = S3FileSystem(skip_instance_cache=True), bucket.removeprefix("s3://")
    uploads = [upload["Key"] for upload in s3.list_multipart_uploads(name)]
    return [path.removeprefix(f"{name}/") for path in s3.find(name)] + uploads
