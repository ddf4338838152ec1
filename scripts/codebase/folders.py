"""The folders of each module, and which of them name each other's types.

Folders of a module form layers, like modules: two that name each other are one folder, or a file
stands in the wrong one. The same holds for three or more in a circle. scripts/graph.sh prints and
checks them; ALLOWED lists the pairs and circles that remain.
"""

import collections
import pathlib
import re

import swift_source

ALLOWED = "scripts/codebase/folder-pairs.txt"
TOP = "(top)"
TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)")
WORD = re.compile(r"\b[A-Z]\w*")
LINE = re.compile(r"^(\w+): (\S+(?:, \S+)+)$")


def folder_edges(texts):
    """Which folder names types of which other folder: {(from, to): names}.

    `texts` maps each path of a module to its text. A name that two folders declare is left out.
    """
    homes, words = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in texts.items():
        source = swift_source.code(text)
        for name in TYPE.findall(source):
            homes[name].add(path.parent)
        words[path.parent].update(WORD.findall(source))
    edges = collections.defaultdict(set)
    for folder, named in words.items():
        for name in named & homes.keys():
            if len(homes[name]) == 1 and folder not in homes[name]:
                edges[folder, next(iter(homes[name]))].add(name)
    return edges


def circles(edges):
    """The sets of folders from each of which edges lead to every other of the set; O(folders³)."""
    reached = {folder: set() for edge in edges for folder in edge}
    for a, b in edges:
        reached[a].add(b)
    for middle in reached:
        for first in reached.values():
            if middle in first:
                first |= reached[middle]
    return {frozenset(b for b in reached if a in reached[b] and b in reached[a])
            for a in reached if a in reached[a]}


class Module:
    """The folders of one module, the pairs that name each other, and the circles of the others."""

    def __init__(self, name, folder, texts):
        """Reads the module in `folder` from its texts, {path: text}."""
        self.name = name
        self.count = len({path.parent for path in texts})
        edges = folder_edges(texts)
        # {(first, second): (names that first uses of second, names that second uses of first)}
        self.pairs = {(_short(a, folder), _short(b, folder)): (edges[a, b], edges[b, a])
                      for a, b in sorted(edges) if a < b and (b, a) in edges}
        # Each a sorted list of three folders or more that name one another in a circle.
        self.circles = [sorted(_short(each, folder) for each in circle)
                        for circle in circles({edge for edge in edges if edge[::-1] not in edges})]


def _short(path, folder):
    """The name of a folder within its module."""
    name = str(path.relative_to(folder))
    return TOP if name == "." else name


def read(root, targets):
    """The modules of Sources that have Swift files, in the order of Package.swift."""
    modules = []
    for target in targets.values():
        paths = swift_source.files(root, target.folder)
        if target.folder.startswith("Sources/") and paths:
            texts = {path: (pathlib.Path(root) / path).read_text() for path in paths}
            modules.append(Module(target.name, target.folder, texts))
    return modules


def report(modules):
    """For each module with several folders, the pairs that name each other, and which names."""
    lines = []
    for module in modules:
        if module.count < 2:
            continue
        lines.append(f"{module.name}: {module.count} folders, "
                     f"{len(module.pairs)} pairs name each other")
        for (first, second), (there, back) in module.pairs.items():
            lines += [f"  {first} -> {second}: {_sample(there)}",
                      f"  {second} -> {first}: {_sample(back)}"]
        lines += [f"  a circle without these pairs: {', '.join(circle)}" for circle in module.circles]
    total = sum(len(module.pairs) for module in modules)
    return "\n".join(lines + [f"All modules: {total} pairs"])


def _sample(names):
    """How many names there are, and the first four of them."""
    return f"{len(names)} ({', '.join(sorted(names)[:4])}{', …' if len(names) > 4 else ''})"


def faults(modules, allowed):
    """Sentences on pairs and circles that ALLOWED does not list, and on lines that it lists in vain."""
    found, listed = [], set()
    for number, line in enumerate(allowed.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        parts = LINE.match(line)
        entry = (parts[1], *parts[2].split(", ")) if parts else None
        if entry is None:
            found.append(f"{ALLOWED}:{number}: not of the form `Module: Folder, Folder`")
        elif entry in listed:
            found.append(f"{ALLOWED}:{number}: lists the same folders twice")
        listed.add(entry)
    listed.discard(None)
    for module in modules:
        for (first, second), (there, back) in module.pairs.items():
            if (module.name, first, second) not in listed:
                found.append(f"{module.name}: the folders {first} and {second} name each other: "
                             f"{first} uses {_sample(there)}, {second} uses {_sample(back)}")
            listed.discard((module.name, first, second))
        for circle in module.circles:
            if (module.name, *circle) not in listed:
                found.append(f"{module.name}: the folders {', '.join(circle)} name one another in a "
                             "circle")
            listed.discard((module.name, *circle))
    return found + [f"{ALLOWED} lists `{module}: {', '.join(names)}`, which do not name each other: "
                    "delete the line" for module, *names in sorted(listed)]
