"""Which extra of Sufficit brings a package that is not installed."""

import re
from importlib.metadata import requires
from typing import Final

_REQUIREMENT: Final = re.compile(r"""^([\w.-]+).*\bextra\s*==\s*['"]([\w-]+)['"]""")


def extra_with(module: str) -> str | None:
    """The first extra one of whose packages is named like the module's top level; None if there is none."""
    wanted = module.partition(".")[0].replace("_", "-").lower()
    for requirement in requires("sufficit") or ():
        if found := _REQUIREMENT.match(requirement):
            package = found[1].replace("_", "-").lower()
            if package == wanted or package.startswith(f"{wanted}-"):
                return found[2]
    return None
