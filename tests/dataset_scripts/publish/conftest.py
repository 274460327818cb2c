"""A small Hub: what huggingface_hub and datasets ask for when a dataset is published and loaded, over real HTTP."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

TOKEN = "hf_secretOfThisTest0123456789abcdef"
LARGE = (".mp4", ".parquet")
PAGE = 5


@dataclass
class Repository:
    """Commits as {sha: {path: bytes}}; branches and tags name a sha."""

    private: bool
    gated: object = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, bytes]) -> str:
        named = sorted((path, hashlib.sha1(data).hexdigest()) for path, data in files.items())
        sha = hashlib.sha1(json.dumps([len(self.commits), named]).encode()).hexdigest()
        self.commits[sha] = files
        self.branches["main"] = sha
        return sha

    def resolve(self, revision: str) -> str | None:
        return (
            self.branches.get(revision) or self.tags.get(revision) or (revision if revision in self.commits else None)
        )


@dataclass
class Hub:
    """The server's state, and what tests steer it with.

    ``fail(method, path)`` returns a status to answer with in place of the real answer, or None. ``received`` counts
    uploaded large files; with ``corrupt`` each is damaged; ``hold_after`` blocks uploads after so many.
    """

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    received: list[str] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    fail: Callable[[str, str], int | None] = lambda method, path: None
    corrupt: Callable[[bytes], bytes] = lambda data: data
    hold_after: int | None = None
    held: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def files(self, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        repository = self.repositories[repo_id]
        return repository.commits[repository.resolve(revision)]


def large_oid(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def small_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def oid_of(path: str, data: bytes) -> str:
    return large_oid(data) if path.endswith(LARGE) else small_oid(data)


def entry_of(path: str, data: bytes) -> dict:
    entry = {"type": "file", "path": path, "size": len(data), "oid": small_oid(data)}
    if path.endswith(LARGE):
        entry["lfs"] = {"oid": large_oid(data), "size": len(data), "pointerSize": 130}
    return entry


def tree_of(files: dict[str, bytes], folder: str, recursive: bool) -> list[dict]:
    inside = {path: data for path, data in files.items() if not folder or path.startswith(f"{folder}/")}
    depth = folder.count("/") + 1 if folder else 0
    entries, folders = [], set()
    for path, data in sorted(inside.items()):
        parts = path.split("/")
        folders |= {"/".join(parts[:n]) for n in range(depth + 1, len(parts)) if recursive or n == depth + 1}
        if recursive or len(parts) == depth + 1:
            entries.append(entry_of(path, data))
    return [{"type": "directory", "path": path, "oid": small_oid(path.encode())} for path in sorted(folders)] + entries


class Refused(Exception):
    """A status, and the Hub's error code."""

    def __init__(self, status: int, code: str = "") -> None:
        self.status, self.code = status, code


class Handler(BaseHTTPRequestHandler):
    """Answers one request; ``self.server.hub`` is the state."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # headers and body leave together: else the client's delayed ACK costs 40 ms a request
    hub: Hub

    def log_message(self, *arguments: object) -> None:
        pass

    def answer(self) -> None:
        self.hub = self.server.hub
        url = urlsplit(self.path)
        path, query = url.path, {name: values[0] for name, values in parse_qs(url.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.hub.lock:
            self.hub.requests.append((self.command, path))
        try:
            if status := self.hub.fail(self.command, path):
                raise Refused(status)
            for method, pattern, action in ROUTES:
                match = re.fullmatch(pattern, path)
                if match and self.command in method.split("|"):
                    action(self, *(unquote(group) for group in match.groups() if group), query=query, body=body)
                    return
            raise Refused(404)
        except Refused as refused:
            headers = {"X-Error-Code": refused.code} if refused.code else {}
            self.send(refused.status, {"error": f"test hub says {refused.status}"}, **headers)

    do_GET = do_HEAD = do_POST = do_PUT = answer

    def send(self, status: int, content: object = None, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def repository(self, repo_id: str, *, write: bool = False) -> Repository:
        repository = self.hub.repositories.get(repo_id)
        known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if write and not known:
            raise Refused(401)
        if repository is None or (repository.private and not known):
            raise Refused(401, "RepoNotFound")
        return repository

    def commit_files(self, repo_id: str, revision: str) -> tuple[str, dict[str, bytes]]:
        repository = self.repository(repo_id)
        sha = repository.resolve(revision)
        if sha is None:
            raise Refused(404, "RevisionNotFound")
        return sha, repository.commits[sha]

    def create(self, *, query: dict, body: bytes) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise Refused(401)
        wanted = json.loads(body)
        repo_id = "/".join(filter(None, [wanted.get("organization"), wanted["name"]]))
        url = f"{self.hub.url}/datasets/{repo_id}"
        if repo_id in self.hub.repositories:
            self.send(409, {"error": "exists", "url": url})
            return
        repository = Repository(private=wanted.get("visibility") == "private" or bool(wanted.get("private")))
        repository.commit({".gitattributes": b"*.mp4 filter=lfs\n"})
        self.hub.repositories[repo_id] = repository
        self.send(200, {"url": url, "name": repo_id})

    def validate_yaml(self, *, query: dict, body: bytes) -> None:
        self.send(200, {"errors": [], "warnings": []})

    def settings(self, repo_id: str, *, query: dict, body: bytes) -> None:
        self.repository(repo_id, write=True).gated = json.loads(body).get("gated")
        self.send(200, {})

    def info(self, repo_id: str, revision: str = "main", *, query: dict, body: bytes) -> None:
        sha, files = self.commit_files(repo_id, revision)
        repository = self.hub.repositories[repo_id]
        siblings = [{"rfilename": path} for path in sorted(files)]
        facts = {"id": repo_id, "sha": sha, "private": repository.private, "gated": repository.gated}
        self.send(200, {**facts, "siblings": siblings, "tags": [], "downloads": 0, "likes": 0})

    def refs(self, repo_id: str, *, query: dict, body: bytes) -> None:
        repository = self.repository(repo_id)

        def listed(kind: str, refs: dict[str, str]) -> list[dict]:
            return [{"name": n, "ref": f"refs/{kind}/{n}", "targetCommit": sha} for n, sha in refs.items()]

        heads, tags = listed("heads", repository.branches), listed("tags", repository.tags)
        self.send(200, {"branches": heads, "tags": tags, "converts": []})

    def tag(self, repo_id: str, revision: str, *, query: dict, body: bytes) -> None:
        repository, name = self.repository(repo_id, write=True), json.loads(body)["tag"]
        if name in repository.tags:
            raise Refused(409)
        repository.tags[name] = repository.resolve(revision)
        self.send(200, {})

    def preupload(self, repo_id: str, revision: str, *, query: dict, body: bytes) -> None:
        self.repository(repo_id, write=True)
        _, files = self.commit_files(repo_id, revision)
        answers = []
        for asked in json.loads(body)["files"]:
            path = asked["path"]
            mode = "lfs" if path.endswith(LARGE) else "regular"
            oid = oid_of(path, files[path]) if path in files else None
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self.send(200, {"files": answers})

    def batch(self, repo_id: str, *, query: dict, body: bytes) -> None:
        self.repository(repo_id, write=True)
        objects = []
        for wanted in json.loads(body)["objects"]:
            upload = {"upload": {"href": f"{self.hub.url}/upload/{wanted['oid']}", "header": {}}}
            objects.append({**wanted, **({} if wanted["oid"] in self.hub.large else {"actions": upload})})
        self.send(200, {"transfer": "basic", "objects": objects})

    def upload(self, oid: str, *, query: dict, body: bytes) -> None:
        with self.hub.lock:
            is_held = self.hub.hold_after is not None and len(self.hub.received) >= self.hub.hold_after
            if not is_held:
                self.hub.received.append(oid)
                self.hub.large[oid] = self.hub.corrupt(body)
        if is_held:
            self.hub.held.set()
            self.hub.release.wait(60)
            raise Refused(403)
        self.send(200, {})

    def commit(self, repo_id: str, revision: str, *, query: dict, body: bytes) -> None:
        repository = self.repository(repo_id, write=True)
        files = dict(self.hub.files(repo_id, revision))
        for line in body.splitlines():
            change = json.loads(line)
            value = change["value"]
            match change["key"]:
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    files[value["path"]] = self.hub.large[value["oid"]]
                case "deletedFile":
                    del files[value["path"]]
        before = repository.branches["main"]
        sha = repository.commit(files)
        answer = {"commitOid": sha, "commitUrl": f"{self.hub.url}/datasets/{repo_id}/commit/{sha}"}
        if query.get("create_pr") == "1":
            repository.branches |= {"main": before, "refs/pr/1": sha}
            answer["pullRequestUrl"] = f"{self.hub.url}/{repo_id}/discussions/1"
        self.send(200, answer)

    def tree(self, repo_id: str, revision: str, folder: str | None = None, *, query: dict, body: bytes) -> None:
        _, files = self.commit_files(repo_id, revision)
        entries = tree_of(files, folder or "", query.get("recursive", "").lower() == "true")
        if not entries and folder:
            raise Refused(404, "EntryNotFound")
        start = int(query.get("cursor", 0))
        rest = "&".join(f"{name}={value}" for name, value in query.items() if name != "cursor")
        following = f'<{self.hub.url}{urlsplit(self.path).path}?{rest}&cursor={start + PAGE}>; rel="next"'
        self.send(200, entries[start : start + PAGE], **({"Link": following} if start + PAGE < len(entries) else {}))

    def paths_info(self, repo_id: str, revision: str, *, query: dict, body: bytes) -> None:
        _, files = self.commit_files(repo_id, revision)
        is_json = "json" in self.headers.get("Content-Type", "")
        asked = json.loads(body)["paths"] if is_json else parse_qs(body.decode())["paths"]
        entries = [entry_of(path, files[path]) for path in asked if path in files]
        for path in asked:
            if any(name.startswith(f"{path}/") for name in files):
                entries.append({"type": "directory", "path": path, "oid": small_oid(path.encode())})
        self.send(200, entries)

    def resolve(self, repo_id: str, revision: str, path: str, *, query: dict, body: bytes) -> None:
        sha, files = self.commit_files(repo_id, revision)
        if path not in files:
            raise Refused(404, "EntryNotFound")
        data = files[path]
        headers = {"ETag": f'"{oid_of(path, data)}"', "X-Repo-Commit": sha, "Accept-Ranges": "bytes"}
        if path.endswith(LARGE):
            headers |= {"X-Linked-Etag": headers["ETag"], "X-Linked-Size": str(len(data))}
        if span := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            start, end = int(span[1]), min(int(span[2] or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            self.send(206, data[start : end + 1], **headers)
        else:
            self.send(200, data, **headers)


_ID = r"([^/]+/[^/]+?)"
ROUTES = [
    ("POST", r"/api/repos/create", Handler.create),
    ("POST", r"/api/validate-yaml", Handler.validate_yaml),
    ("PUT", rf"/api/datasets/{_ID}/settings", Handler.settings),
    ("GET", rf"/api/datasets/{_ID}/refs", Handler.refs),
    ("POST", rf"/api/datasets/{_ID}/tag/([^/]+)", Handler.tag),
    ("POST", rf"/api/(?:datasets|models)/{_ID}/preupload/([^/]+)", Handler.preupload),
    ("POST", rf"/api/(?:datasets|models)/{_ID}/commit/([^/]+)", Handler.commit),
    ("POST", rf"/api/(?:datasets|models)/{_ID}/paths-info/([^/]+)", Handler.paths_info),
    ("GET", rf"/api/(?:datasets|models)/{_ID}/tree/([^/]+)(?:/(.+))?", Handler.tree),
    ("GET", rf"/api/(?:datasets|models)/{_ID}/revision/([^/]+)", Handler.info),
    ("GET", rf"/api/datasets/{_ID}", Handler.info),
    ("POST", rf"/datasets/{_ID}\.git/info/lfs/objects/batch", Handler.batch),
    ("PUT", r"/upload/(\w+)", Handler.upload),
    ("GET|HEAD", rf"/datasets/{_ID}/resolve/([^/]+)/(.+)", Handler.resolve),
]


@pytest.fixture
def hub():
    """A running Hub without a repository."""
    state = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.hub = state
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    state.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def model_repository(hub) -> Repository:
    """A model's repository, org/model, with a card."""
    repository = Repository(private=False)
    repository.commit({"README.md": b"# a model\n"})
    hub.repositories["org/model"] = repository
    return repository


@pytest.fixture
def hub_environment(hub, tmp_path) -> dict[str, str]:
    """The environment of a program that knows this Hub and no other, with caches of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    return {
        **inherited,
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "hf_home"),
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "USE_TORCH": "0",  # datasets would import it for a streamed row: seconds for each process
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }


_PUBLISH = """
import json, sys
from pathlib import Path
from dataset_scripts.publish.send import publish
from egobench_tasks.errors import EgobenchError
folder, repo_id, options = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
try:
    print(publish(folder, repo_id, **options))
except EgobenchError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@pytest.fixture
def hub_python(hub_environment):
    """``hub_python(code, *arguments, **environment)``: Python that knows this Hub; returns what it printed."""

    def run(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(
            command, env={**hub_environment, **environment}, capture_output=True, text=True, timeout=300, check=False
        )

    return run


@pytest.fixture
def hub_program(hub_environment, tmp_path):
    """``hub_program("egobench", …, **environment)``: a program of this environment that knows this Hub."""

    def run(program: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
        command = [str(Path(sys.executable).parent / program), *map(str, arguments)]
        settings = {**hub_environment, "USE_TORCH": "1", **environment}
        done = subprocess.run(
            command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=500, check=False
        )
        assert done.returncode == 0, done.stderr[-6000:]
        return done

    return run


@pytest.fixture
def publish(hub_python):
    """``publish(folder, repo_id, tag=…)``: as `egobench publish` does, in a process of its own."""

    def run(folder: Path, repo_id: str = "org/gears", /, environment: dict | None = None, **options: object):
        return hub_python(_PUBLISH, folder, repo_id, json.dumps(options), **(environment or {}))

    return run


@pytest.fixture
def publishing(hub_environment):
    """``with publishing(folder, repo_id) as process``: publishing that a test can kill."""

    @contextmanager
    def start(folder: Path, repo_id: str):
        command = [sys.executable, "-c", _PUBLISH, str(folder), repo_id, "{}"]
        process = subprocess.Popen(command, env=hub_environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    return start


@pytest.fixture(scope="session")
def secret() -> SimpleNamespace:
    """The token that no output, log or file may hold."""
    return SimpleNamespace(token=TOKEN)


@pytest.fixture
def gears(release, tmp_path) -> Path:
    """A small built EgoGears."""
    from dataset_scripts.egogears.build import build_egogears

    build_egogears(release.root, tmp_path / "egogears")
    return tmp_path / "egogears"
