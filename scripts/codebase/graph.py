"""The graph of the modules for docs/ARCHITECTURE.md, and the folders that name each other.

scripts/graph.sh runs it; see there.
"""

import argparse
import collections
import itertools
import pathlib
import re
import sys

import package
import swift_source

PAGE = "docs/ARCHITECTURE.md"
BEGIN = "<!-- module graph: scripts/graph.sh --write -->"
END = "<!-- end of the module graph -->"
TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)")
WORD = re.compile(r"\b[A-Z]\w*")


def picture(targets):
    """The modules of Sources as a Mermaid graph and as a table, each with what it uses."""
    shown = [target for target in targets.values() if target.folder.startswith("Sources/")]
    shown.sort(key=lambda target: (-target.layer, target.position))
    lines = ["```mermaid", "graph TD"]
    for layer, members in itertools.groupby(shown, key=lambda target: target.layer):
        names = "; ".join(target.name for target in members)
        lines.append(f'    subgraph L{layer}["layer {layer}"]\n        {names}\n    end')
    for target in shown:
        if uses := sorted(target.uses):
            lines.append(f"    {target.name} --> {' & '.join(uses)}")
    lines += ["```", "", "| Layer | Module | Uses |", "| --- | --- | --- |"]
    for target in shown:
        uses = ", ".join(f"`{name}`" for name in sorted(target.uses))
        products = ", ".join(sorted(target.products))
        lines.append(f"| {target.layer} | `{target.name}` | "
                     f"{'; '.join(part for part in (uses, products) if part) or 'nothing'} |")
    return "\n".join(lines) + "\n"


def page_with(page, graph):
    """The page with the graph between its markers; None without markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{graph}\n{end}{after}" if begin and end else None


def page_faults(page, targets):
    """Sentences on a stale graph and on modules whose purpose the page does not say."""
    expected = page_with(page, picture(targets))
    if expected is None:
        return [f"{PAGE}: the lines {BEGIN} and {END} are missing"]
    faults = [] if expected == page else [
        f"{PAGE}: the module graph is stale: run scripts/graph.sh --write"]
    return faults + [f"{PAGE}: no row says what {target.folder} is for"
                     for target in targets.values()
                     if target.folder.startswith("Sources/") and f"`{target.folder}`" not in page]


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


def print_folders(root, targets):
    """Prints, for each module, the pairs of folders that name each other's types."""
    total = 0
    for target in targets.values():
        paths = swift_source.files(root, target.folder)
        if not target.folder.startswith("Sources/") or len({path.parent for path in paths}) < 2:
            continue
        edges = folder_edges({path: (root / path).read_text() for path in paths})
        pairs = [(a, b) for a, b in sorted(edges) if a < b and (b, a) in edges]
        total += len(pairs)
        print(f"{target.name}: {len({path.parent for path in paths})} folders, "
              f"{len(pairs)} pairs name each other")
        for a, b in pairs:
            names = [str(each.relative_to(target.folder)) for each in (a, b)]
            names = ["(top)" if name == "." else name for name in names]
            print(f"  {names[0]} -> {names[1]}: {sample(edges[a, b])}\n"
                  f"  {names[1]} -> {names[0]}: {sample(edges[b, a])}")
    print(f"All modules: {total} pairs")


def sample(names):
    """How many names there are, and the first four of them."""
    return f"{len(names)} ({', '.join(sorted(names)[:4])}{', …' if len(names) > 4 else ''})"


def main():
    """Does what the flag says; ends with 1 where a check fails."""
    parser = argparse.ArgumentParser(prog="scripts/graph.sh", description=__doc__)
    actions = parser.add_mutually_exclusive_group()
    for flag, action in (("--write", f"put the graph into {PAGE}"),
                         ("--check", f"check the layers, and that {PAGE} is not stale"),
                         ("--imports", "check that imports and declared dependencies agree"),
                         ("--folders", "print the folders that name each other's types")):
        actions.add_argument(flag, action="store_true", help=action)
    options = parser.parse_args()
    root = pathlib.Path.cwd()
    targets = package.read(root)
    page = (root / PAGE).read_text()
    faults = package.layer_faults(targets)
    if options.folders:
        print_folders(root, targets)
    elif options.imports:
        faults = package.import_faults(root, targets)
    elif not faults and options.check:
        faults = page_faults(page, targets)
    elif not faults and options.write:
        written = page_with(page, picture(targets))
        if written is None:
            faults = page_faults(page, targets)
        else:
            (root / PAGE).write_text(written)
    elif not faults:
        print(picture(targets), end="")
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
