"""Every error Sufficit raises on purpose, in one tree.

SufficitError
├── UsageError                 exit 2: the caller can mend it
│   ├── SettingsError          a key, a value, and what is allowed
│   ├── InputError             a question, a corpus or a file that cannot be used
│   ├── ModelMissing           names the command that brings the model
│   ├── IndexMissing           no index there, or one without passages
│   ├── IndexMismatch          an index made with another analyzer or schema
│   ├── ArtifactError          a RINSE artifact that does not fit, and where
│   ├── CapabilityError        a policy needs what the generator lacks
│   └── TraceError             a trace that cannot be read or replayed
└── RunError                   exit 1: the world failed
    ├── StorageError           disk full, permission denied, a damaged file
    ├── IndexLocked            another writer holds the index
    ├── ModelOutputError       NaN or infinity where a number must be
    ├── ToolError              a retriever, fetcher or generator failed
    │   ├── GenerationFailed   a generator's server gave no usable answer
    │   ├── FetchRefused       a page that must not be fetched
    │   │   └── AddressRefused for where its host leads
    │   ├── FetchFailed        a page, or an answer of a search engine, that could not be had
    │   └── ExtractFailed      a page that could not be read
    └── BudgetExhausted        a limit of this run was reached

A message is one or two lines: what is wrong, and what to do next.
"""


class SufficitError(Exception):
    """Root of the tree. `exit_code` is what the command line returns for it."""

    exit_code = 1


class UsageError(SufficitError):
    """Something the caller can mend: wrong use, wrong settings, something not installed."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown or out of range."""


class InputError(UsageError):
    """A question, corpus or file cannot be used as given."""


class ModelMissing(UsageError):
    """A model named in the settings is not on this machine."""


class IndexMissing(UsageError):
    """There is no index at the path, or it holds no passages."""


class IndexMismatch(UsageError):
    """The index was written with another analyzer or schema version."""


class ArtifactError(UsageError):
    """A RINSE artifact is damaged, incomplete, or fitted on other backbones."""


class CapabilityError(UsageError):
    """A policy asks for something that this generator cannot do."""


class TraceError(UsageError):
    """A trace file cannot be read, or is of another version."""


class RunError(SufficitError):
    """Something outside failed while running."""


class StorageError(RunError):
    """The disk is full, not writable, or a file on it is damaged."""


class IndexLocked(RunError):
    """Another process is writing to the index."""


class ModelOutputError(RunError):
    """A model returned NaN or infinity where a finite number is needed."""


class ToolError(RunError):
    """A retriever, fetcher or generator failed; the loop records it and goes on."""


class GenerationFailed(ToolError):
    """A generator's server gave no usable answer.

    Attributes
    ----------
    request_id: what the request was sent under, for the server's log.
    """

    def __init__(self, message: str, request_id: str) -> None:
        super().__init__(f"{message} (request {request_id})")
        self.request_id = request_id


class FetchRefused(ToolError):
    """A page that must not be fetched: its address, its robots.txt or its type forbids it."""


class AddressRefused(FetchRefused):
    """A host that leads to an address that must not be reached.

    Attributes
    ----------
    host: its name or address.
    """

    def __init__(self, message: str, host: str) -> None:
        super().__init__(message)
        self.host = host


class FetchFailed(ToolError):
    """A page, or a search engine's answer, that could not be had: no connection, an error status, slow."""


class ExtractFailed(ToolError):
    """A page whose text could not be taken out: it took too long, or broke what read it."""


class BudgetExhausted(RunError):
    """A limit of the run was reached.

    Attributes
    ----------
    limit: name of the limit, as in the settings (`budget.<limit>`).
    allowed: the limit's value.
    """

    def __init__(self, limit: str, allowed: float) -> None:
        super().__init__(f"budget.{limit} = {allowed:g} is spent; raise it or ask a narrower question")
        self.limit = limit
        self.allowed = allowed
