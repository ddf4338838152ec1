"""The targets of Package.swift: their layers, dependencies and sources, and the rules for them."""

import json
import re
import subprocess

import swift_source

LAYER = re.compile(r"^ *// Layer (\d+)(, in order)?: ")
TARGET = re.compile(r'^ *(?:name: |\.[a-zA-Z]+\(name: )"([A-Za-z0-9]+)"')
IMPORT = re.compile(
    r"^(?:@[\w()]+ +)*(?:(?:public|package|internal|fileprivate|private) +)?"
    r"import +(?:(?:struct|class|enum|protocol|func|var|let|typealias) +)?(\w+)", re.MULTILINE)


class Target:
    """One target: its name, its folder, its layer and its dependencies."""

    def __init__(self, described):
        """Reads a target of `swift package dump-package`."""
        self.name = described["name"]
        self.is_test = described["type"] == "test"
        self.folder = described.get("path") or f"{'Tests' if self.is_test else 'Sources'}/{self.name}"
        self.layer = None
        # Whether targets of the same layer may use those that stand above them.
        self.is_in_order = False
        self.position = None
        dependencies = [next(iter(each.items())) for each in described["dependencies"]]
        self.products = {value[0] for kind, value in dependencies if kind == "product"}
        self.uses = {value[0] for kind, value in dependencies if kind != "product"}


def read():
    """The targets of the package, by name, in the order of Package.swift."""
    described = json.loads(subprocess.run(
        ["swift", "package", "--ignore-lock", "dump-package"],
        check=True, capture_output=True, text=True).stdout)
    targets = {each["name"]: Target(each) for each in described["targets"]}
    with open("Package.swift") as manifest:
        set_layers(targets, manifest.read())
    return targets


def set_layers(targets, manifest):
    """Gives each target the layer of the last comment `// Layer N: ` above it in the manifest."""
    layer, is_in_order = None, False
    for number, line in enumerate(manifest.splitlines(), start=1):
        if found := LAYER.match(line):
            layer, is_in_order = int(found[1]), found[2] is not None
        elif (found := TARGET.match(line)) and found[1] in targets and layer is not None:
            target = targets[found[1]]
            target.layer, target.is_in_order, target.position = layer, is_in_order, number


def layer_faults(targets):
    """Sentences on targets without a layer, and on dependencies that do not lead downwards."""
    faults = [f"{target.name}: no comment `// Layer N: ` stands above it"
              for target in targets.values() if target.layer is None]
    if faults:
        return faults
    for target in targets.values():
        for used in sorted(target.uses & targets.keys()):
            other = targets[used]
            if other.layer < target.layer:
                continue
            if other.layer == target.layer and target.is_in_order \
                    and other.position < target.position:
                continue
            faults.append(f"{target.name} (layer {target.layer}) may not depend on {used} "
                          f"(layer {other.layer})")
    return faults


def import_faults(targets):
    """Sentences on imports that are not declared, and on declared modules that nothing imports."""
    faults = []
    products = set().union(*(target.products for target in targets.values()))
    for target in targets.values():
        texts = swift_source.texts(target.folder)
        if not texts:
            continue
        declared = target.uses | target.products
        imported = set()
        for path, text in texts.items():
            for name in imports(text):
                imported.add(name)
                if name in (targets.keys() | products) - declared - {target.name}:
                    faults.append(f"{path}: imports {name}, which {target.name} does not declare")
        faults += [f"{target.name} declares {name}, and no file of {target.folder} imports it"
                   for name in sorted(declared - imported)]
    return faults


def imports(text):
    """The modules that a Swift file imports."""
    return {found[1] for found in IMPORT.finditer(swift_source.code(text))}
