"""The folders of each module, and which of them name each other's types.

Folders of a module form layers, like modules: two that name each other are one folder, or a file
stands in the wrong one. The same holds for three or more in a circle.
"""

import collections
import pathlib
import re

import swift_source

TOP = "(top)"
TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)")
WORD = re.compile(r"\b[A-Z]\w*")


def folder_edges(texts):
    """Which folder names types of which other folder: {(from, to): names}.

    `texts` maps each path of a module to its text. A name that two folders declare is left out.
    """
    homes, words = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in texts.items():
        folder, source = pathlib.PurePosixPath(path).parent, swift_source.code(text)
        for name in TYPE.findall(source):
            homes[name].add(folder)
        words[folder].update(WORD.findall(source))
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


def module_faults(name, folder, texts):
    """Sentences on folders of a module that name each other, and on circles without such pairs."""
    edges = folder_edges(texts)
    pairs = [(a, b) for a, b in sorted(edges) if a < b and (b, a) in edges]
    found = []
    for a, b in pairs:
        first, second = short(a, folder), short(b, folder)
        found.append(f"{name}: the folders {first} and {second} name each other: "
                     f"{first} uses {sample(edges[a, b])}, {second} uses {sample(edges[b, a])}")
    for circle in circles({edge for edge in edges if edge[::-1] not in edges}):
        names = ", ".join(sorted(short(each, folder) for each in circle))
        found.append(f"{name}: the folders {names} name one another in a circle")
    return found


def faults(targets):
    """Those of the modules of Sources."""
    return [fault for target in targets.values() if target.folder.startswith("Sources/")
            for fault in module_faults(target.name, target.folder, swift_source.texts(target.folder))]


def short(path, folder):
    """The name of a folder within its module."""
    name = str(path.relative_to(folder))
    return TOP if name == "." else name


def sample(names):
    """How many names there are, and the first four of them."""
    return f"{len(names)} ({', '.join(sorted(names)[:4])}{', …' if len(names) > 4 else ''})"
