"""A fitted RINSE scorer as one folder: `artifact.json` and `weights.safetensors`.

The json names everything and holds the hash of the weights; loading checks all of it and says what does not
fit. A folder is written whole or not at all.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from ...tools.errors import ArtifactError, InputError, StorageError
from .content import FEATURES, ContentModel
from .idf import PieceCounts
from .latent import LatentModel, LatentPrompt
from .provenance import AnswerThreshold, Provenance
from .size import Standard

SCHEMA = 2
JSON_FILE = "artifact.json"
WEIGHTS_FILE = "weights.safetensors"
EMBEDDED = Path(__file__).parent / "artifacts" / "embedded"
"""The artifact that ships with the package, fitted on the embedded profile's models."""

TRAINED = frozenset({"span", "joint"})
"""Readers whose model is the whole of them: nothing but their standard is fitted."""

Tensors = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Backbone:
    """A model that the artifact was fitted on: the name it was loaded by, and the hash that must be met."""

    model: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Artifact:
    """Everything that RINSE learned.

    `backbones` maps the part that a model plays (`wordpieces`, `reranker`, `encoder`, `span`, `joint`) to the
    model.
    `standards` holds, for each reader, how its raw score becomes its term of the sum. `thresholds` holds the
    answer threshold of each set of readers, named by `reader_set`. `latent` is None where it was not fitted.
    """

    backbones: Mapping[str, Backbone]
    content: ContentModel
    latent: LatentModel | None
    standards: Mapping[str, Standard]
    thresholds: Mapping[str, AnswerThreshold]
    provenance: Provenance

    def check_backbone(self, part: str, fingerprint: str) -> None:
        """Raises ArtifactError unless the artifact was fitted on the model with this fingerprint."""
        fitted = self.backbones.get(part)
        if fitted is None or fitted.fingerprint != fingerprint:
            wanted = f"{fitted.model} with hash {fitted.fingerprint[:16]}…" if fitted else "none"
            raise ArtifactError(
                f"the RINSE artifact was fitted on another {part}: {wanted}, not {fingerprint[:16]}….\n"
                f"Load the {part} that it was fitted on, or fit a new artifact with: sufficit fit"
            )


def reader_set(names: Iterable[str]) -> str:
    """The name of a set of readers: sorted, joined by `+`."""
    return "+".join(sorted(names))


class _Latent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    prompt: LatentPrompt
    layer: int


class _File(BaseModel):
    """artifact.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    schema_version: int
    weights_sha256: str
    backbones: dict[str, Backbone]
    documents: int = Field(ge=1)
    latent: _Latent | None
    standards: dict[str, Standard]
    thresholds: dict[str, AnswerThreshold]
    provenance: Provenance


def _header(artifact: Artifact, weights: bytes) -> _File:
    latent = artifact.latent
    return _File(
        schema_version=SCHEMA,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        backbones=dict(artifact.backbones),
        documents=artifact.content.counts.documents,
        latent=_Latent(prompt=latent.prompt, layer=latent.layer) if latent else None,
        standards=dict(artifact.standards),
        thresholds=dict(artifact.thresholds),
        provenance=artifact.provenance,
    )


def artifact_hash(artifact: Artifact) -> str:
    """SHA-256 over all that the artifact's folder holds, hexadecimal."""
    header = _header(artifact, save_tensors(dict(_tensors(artifact))))
    return hashlib.sha256(header.model_dump_json().encode()).hexdigest()


def check_place(folder: Path) -> None:
    """Raise InputError where an artifact written to `folder` would take the place of something else."""
    if not folder.exists():
        return
    if not folder.is_dir() or {item.name for item in folder.iterdir()} - {JSON_FILE, WEIGHTS_FILE}:
        raise InputError(f"{folder} exists and is no artifact; choose another --out")


def save_artifact(artifact: Artifact, folder: Path) -> None:
    """Write `artifact` to `folder`, replacing an artifact there only once all of it is on disk.

    Raises InputError where something else is there, StorageError where the disk refuses.
    """
    check_place(folder)
    weights = save_tensors(dict(_tensors(artifact)))
    header = _header(artifact, weights)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            (scratch / WEIGHTS_FILE).write_bytes(weights)
            (scratch / JSON_FILE).write_text(header.model_dump_json(indent=2) + "\n", "utf-8")
            scratch.chmod(0o755)
            _replace(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise StorageError(
            f"no artifact could be written to {folder}: {error.strerror}; free space or choose another --out"
        ) from error


def _replace(scratch: Path, folder: Path) -> None:
    """Put `scratch` in the place of `folder`. An old artifact steps aside, and comes back if that fails."""
    if not folder.exists():
        scratch.rename(folder)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    old = aside / "artifact"
    try:
        folder.replace(old)
        try:
            scratch.replace(folder)
        except OSError:
            old.replace(folder)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def load_artifact(folder: Path) -> Artifact:
    """Read and check the artifact in `folder`.

    Raises ArtifactError naming the file and what is wrong with it.
    """
    header = _read_header(folder / JSON_FILE)
    tensors = _read_weights(folder / WEIGHTS_FILE, header.weights_sha256)
    content = _content_model(folder, tensors, header.documents)
    latent = None
    if header.latent:
        direction = _tensor(folder, tensors, "latent.direction")
        latent = LatentModel(header.latent.prompt, header.latent.layer, direction.astype(np.float64))
    artifact = Artifact(
        header.backbones, content, latent, header.standards, header.thresholds, header.provenance
    )
    _check_readers(folder, artifact)
    return artifact


def _read_header(file: Path) -> _File:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"no readable {file}; name a folder that `sufficit fit` wrote") from error
    try:
        version = json.loads(text).get("schema_version")
        if version != SCHEMA:
            raise ArtifactError(f"{file} has schema version {version}, {SCHEMA} is read here; fit it again")
        return _File.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ArtifactError(f"{file}: {place}: {first['msg']}; fit it again") from error
    except (ValueError, AttributeError) as error:
        raise ArtifactError(f"{file} is damaged or cut short; fit it again or reinstall") from error


def _read_weights(file: Path, sha256: str) -> Tensors:
    try:
        weights = file.read_bytes()
    except OSError as error:
        raise ArtifactError(f"no readable {file}; the artifact is incomplete, fit it again") from error
    if hashlib.sha256(weights).hexdigest() != sha256:
        raise ArtifactError(f"{file} is damaged or cut short: {JSON_FILE} names another hash; fit it again")
    try:
        return load_tensors(weights)
    except SafetensorError as error:
        raise ArtifactError(f"{file} is not a safetensors file; fit it again") from error


def _tensors(artifact: Artifact) -> Tensors:
    content = artifact.content
    pieces = sorted(content.counts.counts)
    tensors: dict[str, NDArray[np.generic]] = {
        "content.weights": content.weights,
        "content.center": content.center,
        "content.scale": content.scale,
        "idf.pieces": np.frombuffer("\n".join(pieces).encode(), dtype=np.uint8),
        "idf.counts": np.array([content.counts.counts[piece] for piece in pieces], dtype=np.uint32),
    }
    if artifact.latent:
        tensors["latent.direction"] = artifact.latent.direction.astype(np.float32)
    return tensors


def _content_model(folder: Path, tensors: Tensors, documents: int) -> ContentModel:
    names = bytes(_tensor(folder, tensors, "idf.pieces")).decode().split("\n")
    counts = _tensor(folder, tensors, "idf.counts")
    if len(names) != len(counts):
        raise ArtifactError(
            f"{folder / WEIGHTS_FILE}: idf.pieces and idf.counts differ in length; fit it again"
        )
    parts = {}
    for name in ("weights", "center", "scale"):
        parts[name] = _tensor(folder, tensors, f"content.{name}").astype(np.float64)
        if parts[name].shape != (FEATURES,):
            raise ArtifactError(
                f"{folder / WEIGHTS_FILE}: content.{name} has shape {parts[name].shape}, not ({FEATURES},); "
                "fit it again"
            )
    return ContentModel(PieceCounts(documents, dict(zip(names, counts.tolist(), strict=True))), **parts)


def _tensor(folder: Path, tensors: Tensors, name: str) -> NDArray[np.generic]:
    if name not in tensors:
        raise ArtifactError(f"{folder / WEIGHTS_FILE} lacks {name}; the artifact is incomplete, fit it again")
    return tensors[name]


def _check_readers(folder: Path, artifact: Artifact) -> None:
    """Every reader has its standard, every standard its reader, and the set of all its threshold."""
    expected = {"content"} | ({"latent"} if artifact.latent else set()) | (TRAINED & set(artifact.backbones))
    if set(artifact.standards) != expected:
        raise ArtifactError(
            f"{folder / JSON_FILE}: standards are for {sorted(artifact.standards)}, not {sorted(expected)}"
        )
    if reader_set(expected) not in artifact.thresholds:
        raise ArtifactError(f"{folder / JSON_FILE}: no threshold for {reader_set(expected)}; fit it again")
