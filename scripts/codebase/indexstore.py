"""Reads the index that the compiler writes in debug builds: which symbol occurs where, and why.

The toolchain brings the library that reads it (libIndexStore). The numbers below are from its
header, indexstore/indexstore.h.
"""

import ctypes
import json
import pathlib
import subprocess

DEFINITION, REFERENCE, IMPLICIT = 1 << 1, 1 << 2, 1 << 8
CHILD_OF, BASE_OF, OVERRIDE_OF = 1 << 9, 1 << 10, 1 << 11
CALLED_BY, EXTENDED_BY, ACCESSOR_OF, CONTAINED_BY = 1 << 13, 1 << 14, 1 << 15, 1 << 16
KINDS = {5: "enum", 6: "struct", 7: "class", 8: "protocol", 9: "extension", 11: "typealias",
         12: "function", 13: "variable", 15: "case", 16: "method", 17: "method", 18: "method",
         19: "property", 20: "property", 21: "property", 22: "initializer", 23: "deinitializer"}
SUBSCRIPT_SUBKIND = 1011
# Two bits of a symbol's properties, from bit 17 on, say how far it is visible.
ACCESS = {1: "private", 2: "private", 3: "internal", 4: "package", 5: "public", 6: "public"}
RECORD_DEPENDENCY = 2


class Text(ctypes.Structure):
    """A string of the library: an address and a length."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        """The string."""
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


Visit = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
FUNCTIONS = {
    "store_create": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_void_p]),
    "unit_reader_create": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
    "unit_reader_dispose": (None, [ctypes.c_void_p]),
    "unit_reader_get_main_file": (Text, [ctypes.c_void_p]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p, Visit]),
    "unit_dependency_get_kind": (ctypes.c_int, [ctypes.c_void_p]),
    "unit_dependency_get_name": (Text, [ctypes.c_void_p]),
    "unit_dependency_get_filepath": (Text, [ctypes.c_void_p]),
    "record_reader_create": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
    "record_reader_dispose": (None, [ctypes.c_void_p]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p, Visit]),
    "occurrence_get_symbol": (ctypes.c_void_p, [ctypes.c_void_p]),
    "occurrence_get_roles": (ctypes.c_uint64, [ctypes.c_void_p]),
    "occurrence_get_line_col": (None, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint),
                                       ctypes.POINTER(ctypes.c_uint)]),
    "occurrence_relations_apply_f": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p, Visit]),
    "symbol_relation_get_roles": (ctypes.c_uint64, [ctypes.c_void_p]),
    "symbol_relation_get_symbol": (ctypes.c_void_p, [ctypes.c_void_p]),
    "symbol_get_kind": (ctypes.c_int, [ctypes.c_void_p]),
    "symbol_get_subkind": (ctypes.c_int, [ctypes.c_void_p]),
    "symbol_get_properties": (ctypes.c_uint64, [ctypes.c_void_p]),
    "symbol_get_name": (Text, [ctypes.c_void_p]),
    "symbol_get_usr": (Text, [ctypes.c_void_p]),
}


class Occurrence:
    """A place where a file names a symbol: its identity (USR), its roles and its relations."""

    def __init__(self, path, line, symbol, roles, relations):
        """Keeps one occurrence of the index; `symbol` is (usr, name, kind, access, subkind)."""
        self.path, self.line, self.roles, self.relations = path, line, roles, relations
        self.usr, self.name, self.kind, self.access, self.subkind = symbol


class IndexStore:
    """The index of one build."""

    def __init__(self, path):
        """Opens the index in a folder."""
        self.path = pathlib.Path(path)
        target = json.loads(subprocess.run(["swift", "-print-target-info"], check=True,
                                           capture_output=True, text=True).stdout)
        folder = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent
        library = ctypes.CDLL(str(folder / "libIndexStore.so"))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, f"indexstore_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.store = self.store_create(str(path).encode(), None)
        if not self.store:
            raise SystemExit(f"indexstore: {path} cannot be read.")

    def occurrences(self, root):
        """Yields the occurrences in the Swift files below root; a file that is gone is left out."""
        seen = set()
        for unit in sorted(each.name for each in (self.path / "v5" / "units").iterdir()):
            for record, path in self._records(unit):
                path = pathlib.Path(path)
                if (record, path) in seen or path.suffix != ".swift" or not path.exists():
                    continue
                seen.add((record, path))
                if path.is_relative_to(root) and ".build" not in str(path.relative_to(root)):
                    yield from self._read(record, path.relative_to(root))

    def _records(self, unit):
        """The records of the file that a unit compiles: (record, path)."""
        reader = self.unit_reader_create(self.store, unit.encode(), None)
        main_file, found = str(self.unit_reader_get_main_file(reader)), []

        @Visit
        def visit(_, dependency):
            if self.unit_dependency_get_kind(dependency) == RECORD_DEPENDENCY:
                path = str(self.unit_dependency_get_filepath(dependency))
                if path == main_file:
                    found.append((str(self.unit_dependency_get_name(dependency)), path))
            return True

        self.unit_reader_dependencies_apply_f(reader, None, visit)
        self.unit_reader_dispose(reader)
        return found

    def _read(self, record, path):
        """All occurrences of a record, which is the index of one file."""
        reader = self.record_reader_create(self.store, record.encode(), None)
        found = []

        @Visit
        def visit(_, occurrence):
            line, column = ctypes.c_uint(), ctypes.c_uint()
            self.occurrence_get_line_col(occurrence, ctypes.byref(line), ctypes.byref(column))
            relations = []

            @Visit
            def relate(_, relation):
                usr = str(self.symbol_get_usr(self.symbol_relation_get_symbol(relation)))
                relations.append((self.symbol_relation_get_roles(relation), usr))
                return True

            self.occurrence_relations_apply_f(occurrence, None, relate)
            found.append(Occurrence(
                str(path), line.value, self._symbol(self.occurrence_get_symbol(occurrence)),
                self.occurrence_get_roles(occurrence), relations))
            return True

        self.record_reader_occurrences_apply_f(reader, None, visit)
        self.record_reader_dispose(reader)
        return found

    def _symbol(self, symbol):
        """The part of a symbol that Occurrence keeps."""
        properties = self.symbol_get_properties(symbol)
        return (str(self.symbol_get_usr(symbol)), str(self.symbol_get_name(symbol)),
                KINDS.get(self.symbol_get_kind(symbol), "other"),
                ACCESS.get(properties >> 17 & 7, "internal"), self.symbol_get_subkind(symbol))
