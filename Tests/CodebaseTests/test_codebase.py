"""Tests for the scripts that check the sources: what each finds, and what it lets pass."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "codebase"))

import comments
import concurrency
import coverage
import deadcode
import folders
import graph
import house
import indexstore
import package
import pages
import parameters
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


class CommentTests(unittest.TestCase):
    def test_long_lines_of_comments_are_named(self):
        long = "    /// " + "x" * 103
        found = comments.faults({"A.swift": f"{long[:110]}\n{long}\nlet a = \"{long}\"\n"})
        self.assertEqual(found, ["A.swift:2: a comment line of 111 columns, the limit is 110"])


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


class FolderTests(unittest.TestCase):
    TEXTS = {PATH("Sources/M/A/a.swift"): "struct Ape { var bee: Bee }",
             PATH("Sources/M/B/b.swift"): "struct Bee { func f(_: Ape) {} }",
             PATH("Sources/M/C/c.swift"): "let text = \"Ape\" // Bee",
             PATH("Sources/M/Aa/d.swift"): "let ape = Ape(bee: Bee())"}

    def module(self, texts):
        return folders.Module("M", "Sources/M", texts)

    def test_folders_that_name_each_other_are_found(self):
        self.assertEqual(self.module(self.TEXTS).pairs, {("A", "B"): ({"Bee"}, {"Ape"})})
        report = folders.report([self.module(self.TEXTS)])
        self.assertIn("M: 4 folders, 1 pairs name each other\n  A -> B: 1 (Bee)", report)
        self.assertIn("All modules: 1 pairs", report)

    def test_the_folder_of_the_module_itself_is_one(self):
        texts = {PATH("Sources/M/m.swift"): "struct Mule { var ape: Ape }",
                 PATH("Sources/M/A/a.swift"): "struct Ape { var mule: Mule }"}
        self.assertEqual(list(self.module(texts).pairs), [("(top)", "A")])
        self.assertEqual(folders.faults([self.module(texts)], "M: (top), A\n"), [])

    def test_a_listed_pair_passes(self):
        self.assertEqual(folders.faults([self.module(self.TEXTS)], "# M\n\nM: A, B\n"), [])

    def test_a_pair_that_is_not_listed_is_named(self):
        for allowed in ("", "N: A, B\nN: A, C\n", "M: A, Aa\n"):
            with self.subTest(allowed):
                found = folders.faults([self.module(self.TEXTS)], allowed)
                self.assertIn("M: the folders A and B name each other", found[0])
                self.assertEqual(len(found), 1 + allowed.count("\n"))

    def test_a_circle_of_three_folders_is_found(self):
        texts = {PATH("Sources/M/A/a.swift"): "struct Ape { var bee: Bee; var dog: Dog }",
                 PATH("Sources/M/B/b.swift"): "struct Bee { var cat: Cat }",
                 PATH("Sources/M/C/c.swift"): "struct Cat { var ape: Ape }",
                 PATH("Sources/M/D/d.swift"): "struct Dog {}"}
        module = self.module(texts)
        self.assertEqual((module.pairs, module.circles), ({}, [["A", "B", "C"]]))
        self.assertIn("  a circle without these pairs: A, B, C", folders.report([module]))
        self.assertIn("M: the folders A, B, C name one another", folders.faults([module], "")[0])
        self.assertEqual(folders.faults([module], "M: A, B, C\n"), [])
        texts[PATH("Sources/M/B/b.swift")] = "struct Bee { var cat: Cat; var ape: Ape }"
        self.assertEqual(self.module(texts).circles, [])

    def test_a_line_that_is_no_longer_true_is_named(self):
        texts = {path: text for path, text in self.TEXTS.items() if path.parent.name != "B"}
        cases = [("M: A, B\n", "delete the line"), ("M: A - B\n", ":1: not of the form"),
                 ("M: A, B\nM: A, B\n", ":2: lists the same folders twice")]
        for allowed, fault in cases:
            with self.subTest(allowed):
                self.assertIn(fault, folders.faults([self.module(texts)], allowed)[0])


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


class PageTests(unittest.TestCase):
    PAGES = {"README.md": "# Top\n[a](docs/A.md#the-way-of-a-vote) [b](docs) [c](#top) [d](https://x.y)\n",
             "docs/A.md": "## The way of a `vote`\n[up](../README.md)\n```\n# no heading [x](nowhere)\n```\n"}
    THREATS = "| T-A-1 | It | is so | `M/ATests.swift` `isSo` (twice), `staysSo`; `M/BTests.swift` |\n"
    SOURCES = {"Tests/M/ATests.swift": "func isSo() {}\nfunc staysSo() {} // T-A-1",
               "Tests/M/BTests.swift": ""}

    def test_links_that_lead_somewhere_pass(self):
        self.assertEqual(pages.link_faults(self.PAGES, set(self.PAGES)), [])

    def test_links_that_lead_nowhere_are_named(self):
        for link in ("docs/B.md", "docs/A.md#vote", "#no-heading", "A.md", "docs/A.md#no-heading-x"):
            with self.subTest(link):
                changed = self.PAGES | {"README.md": f"# Top\n[a]({link})\n"}
                self.assertEqual(len(pages.link_faults(changed, set(changed))), 1)

    def test_threats_that_tests_show_pass(self):
        self.assertEqual(pages.threat_faults(self.THREATS, self.SOURCES), [])

    def test_wrong_names_of_tests_and_rows_are_named(self):
        cases = [(self.THREATS.replace("isSo", "is"), self.SOURCES),
                 (self.THREATS.replace("staysSo", "stays"), self.SOURCES),
                 (self.THREATS.replace("BTests", "CTests"), self.SOURCES),
                 (self.THREATS + "| T-A-1 | again |\n", self.SOURCES),
                 (self.THREATS, self.SOURCES | {"Sources/M/C.swift": "// T-A-2"})]
        for page, sources in cases:
            with self.subTest(page=page, sources=sources):
                self.assertEqual(len(pages.threat_faults(page, sources)), 1)


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

    def test_declarations_are_counted_by_access(self):
        text = """
        package import FeedLog
        public import FeedProto
        public extension Int { func a() {} }
        @inline(__always) package static func b() {}
            @discardableResult
            package mutating func c() {}
        public struct D<E>: Sendable {
            public let f = 1, g = 2
            public package(set) var h = "package var i"
            package init() {}
            public subscript(at: Int) -> Int { 0 }
            private var j = 1 // public var k
            func l(package: Int) {}
            package nonisolated(unsafe) static var m = 0
        }
        package indirect enum N { case o }
        open class P {}
        package typealias Q = Int
        """
        self.assertEqual(house.declarations(swift_source.code(text)), {"public": 5, "package": 6})

    def test_lines_that_say_unsafe_are_counted(self):
        text = """
        // unsafe
        let a = "unsafe"
        let b = unsafe c.load(as: UnsafeRawPointer.self)
        nonisolated(unsafe) var d = 1
        final class E: @unchecked Sendable { var unsafely = 1 }
        @safe struct F {}
        let g = Unmanaged.passRetained(h)
        func withUnsafeBytes() {}
        """
        self.assertEqual(house.unsafe_lines(swift_source.code(text)), 5)

    def test_kinds_are_counted_once_a_file(self):
        codes = ["let a = Mutex(1); let b = Mutex<Int>(2)", "let c: Mutex<Int>; let d = Lock(3)",
                 "struct TableLock {}; struct Lock {}; struct UVMutex {}", "uv_sem_wait(e)"]
        found = {name: count for name, count in house.kinds("Locks", house.LOCKS, codes).items() if count}
        self.assertEqual(found, {
            "Locks: kinds": 5, "Locks: files with FeedConcurrency.Lock": 1,
            "Locks: files with Synchronization.Mutex": 2, "Locks: files with UVMutex (uv_mutex_t)": 1,
            "Locks: files with a semaphore": 1, "Locks: files with another lock type": 1})

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


class ParameterTests(unittest.TestCase):
    def test_finds_lists_of_four_without_a_label(self):
        long = "struct A {\n    func f<T>(_ a: T, _ b: (Int, Int),\n        _ c: [Int: T], at d: Int, _ e: Int) {}\n}\n"
        self.assertEqual(list(parameters.long_lists("A.swift", long)),
                         ["A.swift:2: f takes 4 parameters without a label"])
        for labelled in (long.replace("_ b", "b"), long.replace("_ e", "to e")):
            self.assertEqual(list(parameters.long_lists("A.swift", labelled)), [])


if __name__ == "__main__":
    unittest.main()
