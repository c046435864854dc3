"""The mapping file: from the labels of two models to common ones.

```json
{
  "first": {"P_$p: idle -> raised": "raise flag, p: $p", "P_$p: busy -> busy": null},
  "second": {},
  "values": {"0": "Process_1", "1": "Process_2"}
}
```

``$p`` stands for any text, and in the translation for the same text, or for what ``values`` makes of it. A step of the
first model whose label becomes null is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from outcrop.errors import UsageError
from outcrop.ir.system import System
from outcrop.reading import read_json

_KEYS = ("first", "second", "values")
_HOLE = re.compile(r"\$([A-Za-z]\w*)")


@dataclass(frozen=True)
class LabelMapping:
    """Translations of the labels of each model: patterns, with the text that each stands for; None: hidden."""

    first: Mapping[str, str | None] = field(default_factory=dict)
    second: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def hides(self) -> bool:
        """Whether some steps are hidden."""
        return None in self.first.values()

    def translated(
        self, texts: list[str | None], patterns: Mapping[str, str | None], system: System
    ) -> list[str | None]:
        """Returns labels of a model with the first pattern that fits each applied. Raises UsageError for a pattern that
        fits none."""
        compiled = [(_compiled(pattern), template) for pattern, template in patterns.items()]
        unused, found = set(patterns), dict[str | None, str | None]()
        for text in dict.fromkeys(texts):
            matches = ((at, each[0].fullmatch(text or ""), each[1]) for at, each in enumerate(compiled))
            at, match, template = next((each for each in matches if each[1] and text is not None), (None, None, text))
            if match is not None and at is not None:
                unused.discard(list(patterns)[at])
            found[text] = template if match is None or template is None else self._filled(template, match)
        if unused:
            known = ", ".join(f"'{each}'" for each in list(found)[:6])
            raise UsageError(f"no step of {system.name} is '{min(unused)}', as the mapping file says; there is {known}")
        return [found[text] for text in texts]

    def _filled(self, template: str, match: re.Match[str]) -> str:
        groups = match.groupdict()

        def value(hole: re.Match[str]) -> str:
            if hole[1] not in groups:
                raise UsageError(f"the mapping file uses ${hole[1]} in '{template}', and its pattern has no ${hole[1]}")
            return self.values.get(groups[hole[1]], groups[hole[1]])

        return _HOLE.sub(value, template)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Returns the expression that a pattern stands for. A hole that occurs twice stands for one text. Spaces match
    underscores, and letters those of the other case."""
    parts, at, seen = [], 0, set[str]()
    for hole in _HOLE.finditer(pattern):
        parts.append(_literal(pattern[at : hole.start()]))
        parts.append(f"(?P={hole[1]})" if hole[1] in seen else f"(?P<{hole[1]}>.+?)")
        seen.add(hole[1])
        at = hole.end()
    return re.compile("".join([*parts, _literal(pattern[at:])]), re.IGNORECASE)


def _literal(text: str) -> str:
    return "[ _]".join(map(re.escape, re.split("[ _]", text)))


def read_mapping(path: str | None) -> LabelMapping:
    """Returns the content of a mapping file; an empty one without a file."""
    if path is None:
        return LabelMapping()
    document = read_json(path)
    if not isinstance(document, dict) or not set(document) <= set(_KEYS) or not all(map(_is_section, document.items())):
        raise UsageError(
            f"'{path}' is not a mapping file: it must be an object with {', '.join(_KEYS)}, each an object with texts; "
            "only in first a text may be null, which hides a step"
        )
    return LabelMapping(*(document.get(key, {}) for key in _KEYS))


def _is_section(entry: tuple[str, object]) -> bool:
    name, section = entry
    permitted = str | None if name == "first" else str
    return isinstance(section, dict) and all(isinstance(each, permitted) for each in section.values())
