"""Writing an export: a part after the other, each whole or not there; a second call goes on where one was stopped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from egobench_tasks.asking.messages import to_record
from egobench_tasks.asking.order import clips_together
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.frames.errors import ClipError
from egobench_tasks.hosts.endpoint.message import question_message
from egobench_tasks.hosts.endpoint.questions import EndpointQuestion
from egobench_tasks.hosts.endpoint.settings import EndpointSettings
from egobench_tasks.hosts.export.forms import line_of, message_digest, with_files
from egobench_tasks.hosts.export.lmms_eval import write_task
from egobench_tasks.hosts.export.manifest import (
    MANIFEST_NAME,
    Embed,
    Form,
    Manifest,
    Part,
    Plan,
    Written,
    digest_of,
    export_digest,
    read_manifest,
    write_manifest,
)
from egobench_tasks.runs.differences import differing

_STEMS = {Form.MESSAGES: "messages", Form.OPENAI_BATCH: "requests", Form.LMMS_EVAL: "questions"}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a part may hold. OpenAI's own for a batch's file, which suit the other forms too."""

    n_requests: int = 50_000
    n_bytes: int = 200_000_000


OPENAI_LIMITS = Limits()


def question_id_of(question: EndpointQuestion) -> str:
    """Return a question's id in an export, which no other has there: ``egogears:multi/q17``."""
    return f"{question.task.partition('|')[0]}/{question.question_id}"


def questions_digest(questions: Sequence[EndpointQuestion], settings: EndpointSettings) -> str:
    """Return the digest of everything that will be written, but for the pixels, which follow from it."""
    return digest_of(
        [
            (
                question_id_of(question),
                to_record(question.segments),
                [(request.sha256, request.spec.key()) for request in question.frames.requests],
                settings.first_budget(question.budget_tokens),
            )
            for question in in_order(questions)
        ]
    )


def in_order(questions: Sequence[EndpointQuestion]) -> list[EndpointQuestion]:
    """Return the questions in an export's order, that of the endpoint host: servers keep the clips they saw last."""
    return clips_together(questions, lambda question: (question.frames, question.prompt))


def write_export(
    questions: Sequence[EndpointQuestion],
    settings: EndpointSettings,
    plan: Plan,
    out: Path,
    limits: Limits = OPENAI_LIMITS,
) -> Manifest:
    """Write the questions into ``out``, or what it lacks of them, and return the manifest of the whole.

    A question whose clip cannot be read is noted in the manifest and not written. Raises ``InputError`` where ``out``
    holds another export or other files, where a question alone is larger than a part may be, and where two have one id.
    """
    manifest = _begun(out, plan)
    if manifest.digest is not None:
        return manifest
    writer = _Writer(settings, plan, out, limits)
    ordered = in_order(questions)
    if len({question_id_of(question) for question in ordered}) < len(ordered):
        raise InputError("two questions have the same task and id; check the dataset with `egobench check`")
    with tqdm(total=len(ordered), initial=len(manifest.written), desc="Exporting", unit="question") as progress:
        while len(manifest.written) < len(ordered):
            manifest = writer.part(manifest, ordered[len(manifest.written) :], progress)
            write_manifest(out, manifest)
    whole = replace(manifest, digest=export_digest(plan, manifest.written))
    if plan.form == Form.LMMS_EVAL:
        write_task(out, whole)
    write_manifest(out, whole)
    return whole


def _begun(out: Path, plan: Plan) -> Manifest:
    """The manifest of what is there of this very export, an empty one where nothing is."""
    found = read_manifest(out)
    if found is None:
        if out.is_dir() and any(path for path in out.iterdir() if not path.name.startswith(f".{MANIFEST_NAME}.")):
            raise InputError(f"{out}: holds files that are no export's; name a folder that is empty, or none yet")
        out.mkdir(parents=True, exist_ok=True)
        manifest = Manifest(plan=plan)
        write_manifest(out, manifest)
        return manifest
    if names := differing(_plan_values(found.plan), _plan_values(plan)):
        raise InputError(f"{out}: holds another export: other {', '.join(names)}; name another folder")
    if gone := [part.name for part in found.parts if not _is_there(out, part)]:
        raise InputError(f"{out}: {', '.join(gone)} is not as it was written; remove the folder, and export again")
    return found


def _plan_values(plan: Plan) -> dict[str, object]:
    """A plan but for where its data lies and which version of ours wrote it."""
    return {name: getattr(plan, name) for name in plan.__slots__ if name not in ("datasets", "version")}


def _is_there(out: Path, part: Part) -> bool:
    path = out / part.name
    return path.is_file() and path.stat().st_size == part.n_bytes


@dataclass(frozen=True, slots=True)
class _Writer:
    settings: EndpointSettings
    plan: Plan
    out: Path
    limits: Limits

    def part(self, manifest: Manifest, questions: Sequence[EndpointQuestion], progress: tqdm) -> Manifest:
        """Write the next part, of as many of the questions as it may hold, and return the manifest with it."""
        form = Form(self.plan.form)
        name = f"{_STEMS[form]}-{len(manifest.parts) + 1:04d}.jsonl"
        written: list[Written] = []
        n_bytes = n_lines = 0
        with write_atomically(self.out / name) as file:
            for question in questions:
                if n_lines == self.limits.n_requests:
                    break
                one, line = self._line(form, question)
                if n_lines and n_bytes + len(line) > self.limits.n_bytes:
                    break  # it is made again for the next part: one question in sixty
                self._check_size(one, len(line))
                file.write(line)
                written.append(one)
                n_bytes, n_lines = n_bytes + len(line), n_lines + bool(line)
                progress.update()
        part = Part(name=name, n_questions=len(written), n_bytes=n_bytes)
        return replace(manifest, written=(*manifest.written, *written), parts=(*manifest.parts, part))

    def _line(self, form: Form, question: EndpointQuestion) -> tuple[Written, bytes]:
        one = Written(
            id=question_id_of(question),
            task=question.task,
            question_id=question.question_id,
            budget_tokens=self.settings.first_budget(question.budget_tokens),
        )
        try:
            message = question_message(question.segments, question.frames, self.settings)
        except ClipError as error:
            return replace(one, failure=str(error)), b""
        one = replace(one, digest=message_digest(message))
        if self.plan.embed == Embed.FILES:
            message = with_files(message, self.out)
        return one, line_of(form, one, message, self.settings)

    def _check_size(self, question: Written, n_bytes: int) -> None:
        if n_bytes > self.limits.n_bytes:
            most = f"{self.limits.n_bytes / 1e6:,.1f} MB that a file may have"
            raise InputError(
                f"{question.id}: its request takes {n_bytes / 1e6:,.1f} MB, more than the {most}; make its frames "
                "smaller with --jpeg-quality or --jpeg-width-px"
            )
