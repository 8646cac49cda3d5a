"""The API reference: a page for each area of ``pliant`` and for each group, made from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import pliant
from pliant.robot.declared import Declared

# Names of pliant itself, by the part of the package that they come from.
AREAS = {
    "robot": "Describe a robot",
    "formulations": "Formulations",
    "components": "Connect",
    "control": "Connect",
    "simulation": "Simulate",
    "analysis": "Analyse",
    "results": "Results",
    "view": "Draw and view",
    "model": "Contract",
    "errors": "Errors and warnings",
}
CODE = re.compile(r"``(.+?)``|`(.+?)`")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
LONGEST_SUMMARY = 140


@dataclass(frozen=True)
class Page:
    file: str
    title: str
    about: str
    entries: tuple[tuple[str, object], ...]  # full name, value


def pages() -> list[Page]:
    """Every public name stands on exactly one page."""
    areas: dict[str, list[tuple[str, object]]] = {}
    groups = []
    for name in pliant.__all__:
        home = import_module(vars(pliant)["_HOME"][name])
        value = vars(home).get(name) or getattr(pliant, name)  # `view` is a function and a package
        if isinstance(value, ModuleType):
            groups.append((name, value))
        else:
            area = AREAS[home.__name__.split(".")[1]]
            areas.setdefault(area, []).append((f"pliant.{name}", value))
    found = [
        Page(title.lower().replace(" ", "_"), title, "", tuple(areas[title])) for title in dict.fromkeys(AREAS.values())
    ]
    for name, module in groups:
        entries = tuple((f"pliant.{name}.{each}", value) for each, value in held(module))
        found.append(Page(f"pliant.{name}", f"pl.{name}", inspect.getdoc(module) or "", entries))
    return found


def held(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The names that a group offers."""
    names = getattr(module, "__all__", [each for each in vars(module) if not each.startswith("_")])
    return ((name, getattr(module, name)) for name in sorted(names, key=str.lower))


def write_api(folder: Path) -> None:
    """A page for each area and group in the folder ``api``, and their lists below the page ``api.md``."""
    made = pages()
    (folder / "api").mkdir(parents=True, exist_ok=True)
    for page in made:
        (folder / "api" / f"{page.file}.rst").write_text(page_text(page), encoding="utf-8")
    lines = ["", "```{toctree}", ":hidden:", ":maxdepth: 1", "", *(f"api/{page.file}" for page in made), "```", ""]
    for page in made:
        lines += [
            f"## [{page.title}](api/{page.file}.rst)",
            "",
            "```{eval-rst}",
            ".. list-table::",
            "   :widths: 34 66",
            "",
        ]
        for name, value in page.entries:
            lines += [f"   * - :py:obj:`{name.replace('pliant.', 'pl.', 1)} <{name}>`", f"     - {summary(value)}"]
        lines += ["```", ""]
    with (folder / "api.md").open("a", encoding="utf-8") as page_of_all:
        page_of_all.write("\n".join(lines))


def page_text(page: Page) -> str:
    lines = heading(page.title, "=") + prose(page.about)
    for name, value in page.entries:
        lines += entry(name, value)
    return "\n".join(lines) + "\n"


def heading(title: str, mark: str) -> list[str]:
    return [title, mark * len(title), ""]


def summary(value: object) -> str:
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return (
        inline(first if len(first) <= LONGEST_SUMMARY else first[:LONGEST_SUMMARY].rpartition(" ")[0] + " ...") or "\\ "
    )


def entry(name: str, value: object) -> list[str]:
    """One public name with all that it says of itself."""
    module, _, last = name.rpartition(".")
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        inner = prose(inspect.getdoc(value)) + members(value)
        shown = last if issubclass(value, (enum.Enum, BaseException)) else last + signature(value)
    elif callable(value) and hasattr(value, "__name__"):
        kind, shown, inner = "function", last + signature(value), prose(inspect.getdoc(value))
    else:
        kind, shown, inner = "data", last, prose(inspect.getdoc(value))
    option = [f"   :value: {value!r}"] if kind == "data" else []
    return [f".. py:{kind}:: {shown}", f"   :module: {module}", *option, "", *indented(inner), ""]


def members(cls: type) -> list[str]:
    """Members of an enumeration; else public properties and methods that have a docstring, those of bases too."""
    lines: list[str] = []
    if issubclass(cls, enum.Enum):
        for each in cls:
            lines += [f".. py:attribute:: {each.name}", f"   :value: {each.value!r}", "   :no-index-entry:", ""]
        return lines
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        owner = next(base for base in cls.__mro__ if name in vars(base))
        ours = owner is not Declared and owner.__module__.partition(".")[0] == "pliant"
        if name.startswith("_") or name in fields or not ours:
            continue
        call = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
        words = inspect.getdoc(call)
        if isinstance(call, FunctionType) and words:
            option = ["   :classmethod:"] if isinstance(found, classmethod) else []
            shown = signature(getattr(cls, name), own=call is found)
            lines += [f".. py:method:: {name}{shown}", *option, "   :no-index-entry:", ""]
        elif (isinstance(found, property) or hasattr(found, "func")) and words:
            lines += [f".. py:property:: {name}", "   :no-index-entry:", ""]
        else:
            continue
        lines += [*indented(prose(words)), ""]
    return lines


def signature(call: object, own: bool = False) -> str:
    """Arguments with types and defaults; without the first where it is the object itself."""
    try:
        found = inspect.signature(call)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "()"
    kept = list(found.parameters.values())[own:]
    text = str(found.replace(parameters=kept))
    for each in kept:  # annotations are texts already; quotes around them would not be read as types
        text = text.replace(f": '{each.annotation}'", f": {each.annotation}")
    text = text.replace(f"-> '{found.return_annotation}'", f"-> {found.return_annotation}")
    text = re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", ADDRESS.sub("", text))  # members of enumerations by their names
    return re.sub(r"<[^<>]*>", "...", text).replace(" -> None", "")


def prose(text: str | None) -> list[str]:
    """Paragraphs; a line that ends with a colon may head an indented list, one item a line."""
    lines: list[str] = []
    for paragraph in (text or "").split("\n\n"):
        rows = paragraph.split("\n")
        while rows and rows[0].startswith(" "):
            lines += [f"| {inline(rows.pop(0).strip())}"]
        words = [row for row in rows if not row.startswith(" ")]
        lines += ["", inline(" ".join(words)), ""]
        for item in listed(rows):
            name, colon, rest = item.partition(": ")
            lines.append(f"* ``{name}``: {inline(rest)}" if colon and name.isidentifier() else f"* {inline(item)}")
        lines.append("")
    return lines


def listed(rows: list[str]) -> list[str]:
    """Indented rows as items; one that is indented further goes on with the item before."""
    items: list[str] = []
    for row in rows:
        if row.startswith("     ") and items:
            items[-1] += " " + row.strip()
        elif row.startswith("    "):
            items.append(row.strip())
    return items


def inline(text: str) -> str:
    """Plain text with code: what would be markup otherwise is taken as it stands."""
    parts, at = [], 0
    for match in CODE.finditer(text):
        parts += [quoted(text[at : match.start()]), f"\\ ``{(match[1] or match[2]).strip()}``\\ "]
        at = match.end()
    return "".join([*parts, quoted(text[at:])])


def quoted(text: str) -> str:
    return re.sub(r"([\\*`|_\[\]<>])", r"\\\1", text)


def indented(lines: list[str]) -> list[str]:
    return [f"   {line}" if line else "" for line in lines]
