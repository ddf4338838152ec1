"""Tests for the scripts that check the sources: what each finds, and what it lets pass."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "codebase"))

import concurrency
import coverage
import deadcode
import graph
import house
import indexstore
import package
import swift_source
import unsafe

PATH = pathlib.PurePosixPath


class SourceTests(unittest.TestCase):
    def test_comments_and_literals_are_not_code(self):
        code = swift_source.code('let a = "unsafe" // unsafe\n/* unsafe\n */ let b = """\n unsafe\n """\n')
        self.assertNotIn("unsafe", code)
        self.assertEqual(code.count("\n"), 5)

    def test_what_a_literal_interpolates_is_code(self):
        self.assertIn("unsafe f(g(1))", swift_source.code(r'let a = "x \(unsafe f(g(1))) y"'))


class LayerTests(unittest.TestCase):
    MANIFEST = """
        // Layer 0, in order: C.
        .target(name: "CLow"),
        .target(
            name: "CHigh",
            dependencies: ["CLow"]
        ),
        // Layer 1: Swift.
        .target(name: "Left"),
        .target(name: "Right"),
    """

    def targets(self, uses, manifest=MANIFEST):
        described = [{"name": name, "type": "regular",
                      "dependencies": [{"byName": [each, None]} for each in uses.get(name, [])]}
                     for name in ("CLow", "CHigh", "Left", "Right")]
        targets = {each["name"]: package.Target(each) for each in described}
        package.set_layers(targets, manifest)
        return targets

    def test_downward_edges_pass(self):
        targets = self.targets({"CHigh": ["CLow"], "Left": ["CHigh"], "Right": ["CLow"]})
        self.assertEqual(package.layer_faults(targets), [])

    def test_edges_that_do_not_lead_downwards_are_named(self):
        for uses in ({"CLow": ["Left"]}, {"Left": ["Right"]}, {"CLow": ["CHigh"]}):
            with self.subTest(uses):
                self.assertEqual(len(package.layer_faults(self.targets(uses))), 1)

    def test_a_target_without_a_layer_is_named(self):
        targets = self.targets({}, self.MANIFEST.replace("// Layer 0, in order: C.", ""))
        self.assertIn("CLow", package.layer_faults(targets)[0])

    def test_imports_are_read(self):
        text = "package import FeedLog\n@testable import FeedProto\nimport struct Glibc.x\n// import No\n"
        self.assertEqual(package.imports(text), {"FeedLog", "FeedProto", "Glibc"})

    def test_a_stale_page_is_named(self):
        targets = self.targets({"Left": ["CLow"]})
        rows = "".join(f"| `Sources/{name}` |\n" for name in targets)
        page = graph.page_with(f"{graph.BEGIN}\n{graph.END}\n{rows}", graph.picture(targets))
        self.assertEqual(graph.page_faults(page, targets), [])
        self.assertEqual(len(graph.page_faults(page, self.targets({"Right": ["CLow"]}))), 1)
        self.assertEqual(len(graph.page_faults(page.replace("| `Sources/Left` |", ""), targets)), 1)
        self.assertEqual(len(graph.page_faults("no markers", targets)), 1)

    def test_folders_that_name_each_other_are_found(self):
        edges = graph.folder_edges({PATH("M/A/a.swift"): "struct Ape { var bee: Bee }",
                                    PATH("M/B/b.swift"): "struct Bee { func f(_: Ape) {} }",
                                    PATH("M/C/c.swift"): "let text = \"Ape\" // Bee"})
        self.assertEqual(set(edges), {(PATH("M/A"), PATH("M/B")), (PATH("M/B"), PATH("M/A"))})


class UnsafeTests(unittest.TestCase):
    PAGE = "| `Sources/A.swift` | `unsafe`, `@safe` | It calls C. |\n"
    TEXT = "@safe struct A { let p: UnsafeRawPointer }"

    def test_a_listed_file_passes(self):
        self.assertEqual(unsafe.faults(self.PAGE, {"Sources/A.swift": self.TEXT}), [])

    def test_what_the_page_does_not_list_as_it_is_is_named(self):
        cases = [("", self.TEXT, 2), (self.PAGE, "struct A {} // unsafe", 2),
                 (self.PAGE, self.TEXT + " extension A: @unchecked Sendable {}", 1),
                 (self.PAGE + self.PAGE, self.TEXT, 1),
                 (self.PAGE.replace("It calls C.", ""), self.TEXT, 1),
                 (self.PAGE + self.PAGE.replace("A.swift", "B.swift"), self.TEXT, 1)]
        for page, text, count in cases:
            with self.subTest(page=page, text=text):
                self.assertEqual(len(unsafe.faults(page, {"Sources/A.swift": text})), count)

    def test_words_are_told_apart(self):
        self.assertEqual(unsafe.said("nonisolated(unsafe) var a = 1"), ["nonisolated(unsafe)"])


class ConcurrencyTests(unittest.TestCase):
    def test_what_feed_concurrency_has_is_named_elsewhere(self):
        cases = ["let a = Mutex(0)", "pthread_mutex_lock(&a)", "pthread_create(&t, nil, f, nil)",
                 "uv_mutex_lock(&a)", "uv_thread_create(&t, f, nil)", "Thread { f() }", "Thread(block: f)",
                 "Thread.sleep(forTimeInterval: 1)", "DispatchQueue.global().async {}",
                 "DispatchSemaphore(value: 0)", "usleep(1)", "sleep(1)", "nanosleep(&a, nil)",
                 "clock_gettime(CLOCK_REALTIME, &a)", "gettimeofday(&a, nil)", "let a = Date()",
                 "let a = Date.now", "f(date: .now)", "struct TableLock {}", "import Dispatch"]
        for code in cases:
            with self.subTest(code):
                self.assertEqual(len(concurrency.faults({"Sources/M/a.swift": code}, {})), 1)
                self.assertEqual(concurrency.faults({"Sources/FeedConcurrency/a.swift": code}, {}), [])

    def test_what_only_looks_like_it_passes(self):
        for code in ("Lock(0)", "NamedThread(name)", "EventLoopThread(name)", "try await Task.sleep(for: a)",
                     "SystemClock.sleep(for: a)", "f(at: .now)", "Date(timeIntervalSince1970: 1)",
                     "// Mutex", "let a = \"usleep(1)\"", "flock(a, LOCK_EX)"):
            with self.subTest(code):
                self.assertEqual(concurrency.faults({"Sources/M/a.swift": code}, {}), [])

    def test_an_exception_is_for_one_kind_and_is_needed(self):
        allowed = {("Sources/M/a.swift", "a clock"): "why"}
        self.assertEqual(concurrency.faults({"Sources/M/a.swift": "Date()"}, allowed), [])
        self.assertEqual(len(concurrency.faults({"Sources/M/a.swift": "Date() + Mutex(0)"}, allowed)), 1)
        self.assertEqual(len(concurrency.faults({"Sources/M/a.swift": ""}, allowed)), 1)


class DeadCodeTests(unittest.TestCase):
    def index(self, *occurrences):
        index = deadcode.Index(
            [indexstore.Occurrence(path, 1, (name, name, kind, "internal", 0), roles, relations)
             for path, name, kind, roles, relations in occurrences], pathlib.Path("/"))
        index.texts = {path: ["@main" if path.endswith("Main.swift") else "func"]
                       for path, *_ in occurrences}
        return index

    def test_a_chain_from_the_main_type_is_reached(self):
        main, other = "Sources/M/Main.swift", "Sources/M/Other.swift"
        define, refer, within = indexstore.DEFINITION, indexstore.REFERENCE, indexstore.CONTAINED_BY
        index = self.index(
            (main, "main", "function", define, []), (other, "used", "function", define, []),
            (other, "dead", "function", define, []), (other, "deader", "function", define, []),
            (other, "tested", "function", define, []),
            (main, "used", "function", refer, [(within, "main")]),
            (other, "deader", "function", refer, [(within, "dead")]),
            ("Tests/T.swift", "tested", "function", refer, [(within, "test")]))
        self.assertEqual(deadcode.reached(index, with_tests=False), {"main", "used"})
        self.assertEqual(deadcode.reached(index, with_tests=True), {"main", "used", "tested"})

    def test_a_witness_is_reached_with_its_requirement(self):
        main, other = "Sources/M/Main.swift", "Sources/M/Other.swift"
        define, refer = indexstore.DEFINITION, indexstore.REFERENCE
        index = self.index(
            (main, "main", "function", define, []), (other, "need", "method", define, []),
            (other, "witness", "method", define, [(indexstore.OVERRIDE_OF, "need")]),
            (main, "need", "method", refer, [(indexstore.CALLED_BY, "main")]))
        self.assertEqual(deadcode.reached(index, with_tests=False), {"main", "need", "witness"})


class FigureTests(unittest.TestCase):
    def test_functions_are_measured_from_brace_to_brace(self):
        text = "protocol P {\n func a()\n func b() -> Int\n}\nfunc c(\n d: () -> Void\n) {\n if d {\n }\n}\n" \
               "struct S { init() { x() } }\n"
        self.assertEqual(sorted(house.function_lengths(text)), [1, 4])

    def test_coverage_is_added_up_by_module(self):
        def covered(count, reached):
            return {kind: {"count": count, "covered": reached} for kind in coverage.KINDS}
        exported = {"data": [{"files": [
            {"filename": "/r/Sources/A/x.swift", "summary": covered(10, 5)},
            {"filename": "/r/Sources/A/y.swift", "summary": covered(30, 25)},
            {"filename": "/r/Tests/T/z.swift", "summary": covered(9, 9)}]}]}
        self.assertEqual(coverage.table(exported, PATH("/r"), [])[2:],
                         ["| A | 75.0 % | 75.0 % | 75.0 % | 10 of 40 |"])
        self.assertEqual(coverage.worst_files(exported, PATH("/r"), [], 1),
                         [(5, "Sources/A/y.swift")])


if __name__ == "__main__":
    unittest.main()
