"""Finds declarations of Sources that nothing reaches, from the compiler's index.

A declaration is reached where a program begins, where a library shows it to others (`public` in a
library product), or where a reached declaration names it. scripts/deadcode.sh runs this; see there.
"""

import argparse
import collections
import pathlib
import re
import sys

import indexstore
from indexstore import (ACCESSOR_OF, BASE_OF, CALLED_BY, CHILD_OF, CONTAINED_BY, DEFINITION,
                        EXTENDED_BY, IMPLICIT, OVERRIDE_OF, REFERENCE)

# The modules whose public declarations other programs use.
LIBRARIES = ("Sources/FeedProto/", "Sources/FeedClient/")
REPORTED = {"enum", "struct", "class", "protocol", "typealias", "function", "variable", "case",
            "method", "property", "initializer"}
CODABLE = {"s:Se", "s:SE", "s:s7Codablea"}
C_FUNCTION = re.compile(r"^static inline [^=;{]*?(\w+)\(", re.MULTILINE)
ASSOCIATED_TYPE, GENERIC_PARAMETER = 1012, 1013


class Index:
    """Which symbol declares, and which names, another: built from all occurrences of the index."""

    def __init__(self, occurrences, root):
        """Reads the occurrences, and the text of the files that they are in."""
        self.root, self.texts = root, {}
        self.definitions, self.parents, self.extended = {}, {}, {}
        self.overridden = collections.defaultdict(set)
        self.bases = collections.defaultdict(set)
        self.references = []
        for each in occurrences:
            self._add(each)

    def _add(self, each):
        """Notes one occurrence."""
        for roles, usr in each.relations:
            if roles & OVERRIDE_OF:
                self.overridden[each.usr].add(usr)
            if roles & (CHILD_OF | ACCESSOR_OF) and each.roles & DEFINITION:
                # An accessor belongs to its property.
                self.parents[each.usr] = usr
            if roles & EXTENDED_BY:
                self.extended[usr] = each.usr
            if roles & BASE_OF:
                self.bases[usr].add(each.usr)
        if each.roles & DEFINITION and not each.roles & IMPLICIT:
            self.definitions[each.usr] = each
        if each.roles & REFERENCE and not any(r & EXTENDED_BY for r, _ in each.relations):
            owners = {usr for roles, usr in each.relations
                      if roles & (CONTAINED_BY | CALLED_BY | BASE_OF)}
            self.references.append((each.usr, owners, each.path))

    def line(self, definition):
        """The text of the line that declares a symbol."""
        if definition.path not in self.texts:
            self.texts[definition.path] = (self.root / definition.path).read_text().splitlines()
        lines = self.texts[definition.path]
        return lines[definition.line - 1] if definition.line <= len(lines) else ""

    def attributes(self, definition):
        """The line that declares a symbol, and the line above it."""
        above = self.texts[definition.path][max(0, definition.line - 2)] \
            if self.line(definition) else ""
        return above + "\n" + self.line(definition)

    def parent(self, usr):
        """The declaration around a symbol; for a member of an extension, the extended type."""
        found = self.parents.get(usr)
        return self.extended.get(found, found)

    def home(self, usr):
        """The declaration that a symbol belongs to: itself, or the one around an accessor or a local."""
        usr = self.extended.get(usr, usr)
        while usr is not None and not self.is_reported(usr):
            usr = self.parent(usr)
        return usr

    def is_reported(self, usr):
        """Whether a symbol is a declaration of its own in a type or a file."""
        found = self.definitions.get(usr)
        if found is None or found.kind not in REPORTED or found.name.startswith(
                ("getter:", "setter:", "_read:", "_modify:", "willSet:", "didSet:", "addressor:",
                 "mutableAddressor:", "unsafeAddress", "init:")):
            return False
        if found.subkind in (ASSOCIATED_TYPE, GENERIC_PARAMETER):
            return False
        parent = self.definitions.get(self.parent(usr))
        return parent is None or parent.kind in ("enum", "struct", "class", "protocol", "extension")

    def is_product(self, usr):
        """Whether a symbol is declared in Sources."""
        found = self.definitions.get(usr)
        return found is not None and found.path.startswith("Sources/")

    def is_root(self, usr):
        """Whether programs begin at a declaration, or other packages may name it."""
        found = self.definitions[usr]
        if found.path.startswith(LIBRARIES) and re.search(r"\b(public|open)\b", self.line(found)):
            return True
        if found.kind == "case" and found.path.startswith(LIBRARIES):
            owner = self.definitions.get(self.parent(usr))
            return owner is not None and "public" in self.line(owner)
        if found.name == "main()" and self.parent(usr) in self.definitions:
            found = self.definitions[self.parent(usr)]
        return "@main" in self.attributes(found)

    def lives_with_parent(self, usr):
        """Whether the language reaches a declaration through its type: a witness of a protocol of
        another module, or what `Codable` reads and writes."""
        found = self.definitions[usr]
        if any(each not in self.definitions for each in self.overridden[usr]):
            return True
        parent = self.parent(usr)
        owner = self.definitions.get(parent)
        if owner is None:
            return False
        if found.name == "CodingKeys" or owner.name == "CodingKeys":
            return True
        return found.kind == "property" and bool(self.bases[parent] & CODABLE)


def reached(index, with_tests):
    """The declarations that programs reach; with tests and benchmarks too where `with_tests`."""
    uses, live, work = collections.defaultdict(set), set(), []
    dependents = collections.defaultdict(set)

    def reach(usr):
        """Notes that the declaration of a symbol is reached."""
        usr = index.home(usr)
        if usr is not None and usr not in live:
            live.add(usr)
            work.append(usr)

    for target, owners, path in index.references:
        homes = {index.home(owner) for owner in owners} - {None}
        if not path.startswith("Sources/"):
            if with_tests:
                reach(target)
        elif homes:
            for home in homes:
                uses[home].add(target)
        else:
            reach(target)
    for usr in index.definitions:
        if not index.is_reported(usr) or not index.is_product(usr):
            continue
        if index.is_root(usr):
            reach(usr)
        if index.lives_with_parent(usr):
            dependents[index.parent(usr)].add(usr)
    for usr, requirements in index.overridden.items():
        for requirement in requirements:
            dependents[requirement].add(usr)
    while work:
        usr = work.pop()
        for each in uses[usr] | dependents[usr]:
            reach(each)
        if index.parent(usr) is not None:
            reach(index.parent(usr))
    return live


def dead_c_functions(root, named):
    """The functions of our C headers that neither Swift nor another header calls: (path, name).

    `named` are the identities of all symbols that Swift names.
    """
    headers = {path: path.read_text() for path in sorted(root.glob("Sources/C*/*.h"))}
    text, called = "\n".join(headers.values()), {usr.rpartition("@F@")[2] for usr in named}
    return [(path.relative_to(root), name)
            for path, header in headers.items() for name in C_FUNCTION.findall(header)
            if name not in called and len(re.findall(rf"\b{name}\b", text)) == 1]


def main():
    """Prints both lists, and ends with 1 if nothing reaches some declaration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", help="the folder of the index")
    parser.add_argument("--check", action="store_true", help="print what nothing reaches only")
    options = parser.parse_args()
    root = pathlib.Path.cwd()
    index = Index(indexstore.IndexStore(options.store).occurrences(root), root)
    product, tests = reached(index, with_tests=False), reached(index, with_tests=True)
    mine = {usr for usr in index.definitions if index.is_product(usr) and index.is_reported(usr)}
    dead, tested = mine - tests, mine & tests - product
    for title, found in (("Nothing reaches", dead), ("Tests and benchmarks alone reach", tested)):
        if options.check and found is tested:
            continue
        # A member of a type that is listed is not listed again.
        shown = [index.definitions[usr] for usr in found if index.parent(usr) not in found]
        print(f"{title} {len(shown)} declarations:")
        for each in sorted(shown, key=lambda each: (each.path, each.line)):
            print(f"  {each.path}:{each.line}: {each.kind} {each.name}")
    unused = dead_c_functions(root, {usr for usr, _, _ in index.references})
    for path, name in unused:
        print(f"Nothing calls {name} of {path}.")
    sys.exit(1 if dead or unused else 0)


if __name__ == "__main__":
    main()
