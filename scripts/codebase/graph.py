"""The graph of the modules for docs/ARCHITECTURE.md, and the checks of layers, imports and folders.

scripts/check.sh checks by scripts/graph.sh, whose --write puts the graph into the page first.
"""

import itertools
import pathlib
import sys

import folders
import package
import swift_source

PAGE = "docs/ARCHITECTURE.md"
BEGIN = "<!-- module graph: scripts/graph.sh --write -->"
END = "<!-- end of the module graph -->"


def picture(targets):
    """The modules of Sources as a Mermaid graph, and a table of those that use products of other packages."""
    shown = [target for target in targets.values() if target.folder.startswith("Sources/")]
    shown.sort(key=lambda target: (-target.layer, target.position))
    lines = ["```mermaid", "graph TD"]
    for layer, members in itertools.groupby(shown, key=lambda target: target.layer):
        names = "; ".join(target.name for target in members)
        lines.append(f'    subgraph L{layer}["layer {layer}"]\n        {names}\n    end')
    for target in shown:
        if uses := sorted(target.uses):
            lines.append(f"    {target.name} --> {' & '.join(uses)}")
    lines += ["```", "", "| Module | Packages |", "| --- | --- |"]
    lines += [f"| `{target.name}` | {', '.join(sorted(target.products))} |" for target in shown if target.products]
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


def main():
    """Checks the layers first, and then all else."""
    path, targets = pathlib.Path(PAGE), package.read()
    page = path.read_text()
    if faults := package.layer_faults(targets):
        swift_source.report(faults)
    if sys.argv[1:] == ["--write"] and (written := page_with(page, picture(targets))):
        path.write_text(page := written)
    swift_source.report([*page_faults(page, targets), *package.import_faults(targets), *folders.faults(targets)])


if __name__ == "__main__":
    main()
