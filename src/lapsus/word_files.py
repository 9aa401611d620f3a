"""The YAML files beside the code that hold what the program says, or looks for, in each of its languages."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "ja")


@cache
def word_file(package: str, path: str) -> Any:
    """What a packaged file holds. ValueError where a key stands in it twice, or something in one language alone."""
    text = (files(package) / path).read_text(encoding="utf-8")
    tree = _parsed(text, f"{package}/{path}")
    if lacking := [".".join(place) for place in _in_part(tree, ())]:
        raise ValueError(f"{package}/{path}: not in every language: {', '.join(lacking)}")
    return tree


@cache
def words_in(language: str, package: str, folder: str) -> Mapping[str, str]:
    """The words of a folder that has a file, or a folder of files, for each language.

    Keys within keys are joined by dots, after the name of the file where there are several. ValueError where another
    language has other keys.
    """
    found = {one: dict(_words_of(one, package, folder)) for one in LANGUAGES}
    for words in found.values():
        if other := words.keys() ^ found[language].keys():
            raise ValueError(f"{package}/{folder}: not in every language: {', '.join(sorted(other))}")
    return found[language]


def _words_of(language: str, package: str, folder: str) -> Iterator[tuple[str, str]]:
    place = files(package) / folder
    if (place / f"{language}.yaml").is_file():
        yield from _flat(word_file(package, f"{folder}/{language}.yaml"), "")
        return
    for name in sorted(file.name for file in (place / language).iterdir() if file.name.endswith(".yaml")):
        yield from _flat(word_file(package, f"{folder}/{language}/{name}"), f"{name.removesuffix('.yaml')}.")


def _flat(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _in_part(tree: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where a file has one language and not another."""
    if isinstance(tree, Mapping):
        if 0 < sum(language in tree for language in LANGUAGES) < len(LANGUAGES):
            yield place
        for key, value in tree.items():
            yield from _in_part(value, (*place, str(key)))


def _parsed(text: str, name: str) -> Any:
    # Here, since a command that says nothing of a file need not wait for it.
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            known: set[Any] = set()
            for key, _ in node.value:
                if key.value in known:
                    raise ValueError(
                        f"{name}, line {key.start_mark.line + 1}: {key.value!r} stands there twice"
                    )
                known.add(key.value)
            found: dict[Any, Any] = super().construct_mapping(node, deep)
            return found

    return yaml.load(text, Loader)  # noqa: S506  a safe loader
