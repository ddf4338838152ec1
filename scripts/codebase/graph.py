"""The graph of the modules for docs/ARCHITECTURE.md, and the checks of modules and folders.

scripts/graph.sh runs it.
"""

import argparse
import itertools
import pathlib

import folders
import package
import swift_source

PAGE = "docs/ARCHITECTURE.md"
BEGIN = "<!-- module graph: scripts/graph.sh --write -->"
END = "<!-- end of the module graph -->"


def picture(targets):
    """The modules of Sources as a Mermaid graph and as a table, each with its dependencies."""
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


def write(targets):
    """Puts the graph into the page; the faults of the page if it has no markers."""
    path = pathlib.Path(PAGE)
    written = page_with(path.read_text(), picture(targets))
    if written is None:
        return page_faults(path.read_text(), targets)
    path.write_text(written)
    return []


ACTIONS = {
    "--write": (f"put the graph into {PAGE}", write),
    "--check": (f"check the layers, and that {PAGE} is not stale",
                lambda targets: page_faults(pathlib.Path(PAGE).read_text(), targets)),
    "--imports": ("check that imports and declared dependencies agree", package.import_faults),
    "--check-folders": ("check that no folders of a module name each other's types", folders.faults),
}


def main():
    """Obeys the flag; ends with 1 if a check fails."""
    parser = argparse.ArgumentParser(prog="scripts/graph.sh", description=__doc__)
    chosen = parser.add_mutually_exclusive_group(required=True)
    for flag, (text, action) in ACTIONS.items():
        chosen.add_argument(flag, dest="action", action="store_const", const=action, help=text)
    action, targets = parser.parse_args().action, package.read()
    swift_source.report(package.layer_faults(targets) or action(targets))


if __name__ == "__main__":
    main()
