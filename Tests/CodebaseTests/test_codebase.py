"""Tests for the scripts that check the sources: what each finds, and what it lets pass."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "codebase"))

import concurrency
import folders
import graph
import metrics
import package
import pages
import parameters
import portable
import swift_source
import unsafe


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


class FolderTests(unittest.TestCase):
    TEXTS = {"Sources/M/A/a.swift": "struct Ape { var bee: Bee }",
             "Sources/M/B/b.swift": "struct Bee { func f(_: Ape) {} }",
             "Sources/M/C/c.swift": "let text = \"Ape\" // Bee",
             "Sources/M/Aa/d.swift": "let ape = Ape(bee: Bee())"}

    def faults(self, texts):
        return folders.module_faults("M", "Sources/M", texts)

    def test_folders_that_name_each_other_are_found(self):
        self.assertEqual(self.faults(self.TEXTS), [
            "M: the folders A and B name each other: A uses 1 (Bee), B uses 1 (Ape)"])

    def test_the_folder_of_the_module_itself_is_one(self):
        texts = {"Sources/M/m.swift": "struct Mule { var ape: Ape }",
                 "Sources/M/A/a.swift": "struct Ape { var mule: Mule }"}
        self.assertIn("the folders (top) and A name each other", self.faults(texts)[0])

    def test_folders_that_form_layers_pass(self):
        texts = {path: text for path, text in self.TEXTS.items() if "/B/" not in path}
        self.assertEqual(self.faults(texts), [])

    def test_a_circle_of_three_folders_is_found(self):
        texts = {"Sources/M/A/a.swift": "struct Ape { var bee: Bee; var dog: Dog }",
                 "Sources/M/B/b.swift": "struct Bee { var cat: Cat }",
                 "Sources/M/C/c.swift": "struct Cat { var ape: Ape }",
                 "Sources/M/D/d.swift": "struct Dog {}"}
        self.assertEqual(self.faults(texts), ["M: the folders A, B, C name one another in a circle"])
        texts["Sources/M/B/b.swift"] = "struct Bee { var cat: Cat; var ape: Ape }"
        self.assertEqual(len(self.faults(texts)), 1)


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

    def test_no_test_sleeps(self):
        for code, count in (("SystemClock.sleep(for: a)", 1), ("try await Task.sleep(for: a)", 1), ("usleep(1)", 1),
                            ("commits.wait()", 0), ("// Task.sleep(for: a)", 0), ("loop.sleeps()", 0)):
            with self.subTest(code):
                self.assertEqual(len(concurrency.test_faults({"Tests/M/a.swift": code})), count)

    def test_an_exception_is_for_one_kind_and_is_needed(self):
        allowed = {("Sources/M/a.swift", "a clock"): "why"}
        self.assertEqual(concurrency.faults({"Sources/M/a.swift": "Date()"}, allowed), [])
        self.assertEqual(len(concurrency.faults({"Sources/M/a.swift": "Date() + Mutex(0)"}, allowed)), 1)
        self.assertEqual(len(concurrency.faults({"Sources/M/a.swift": ""}, allowed)), 1)


class PortableTests(unittest.TestCase):
    def faults(self, text):
        return portable.faults({"Sources/M/a.swift": text}, {"Glibc", "CThread"})

    def test_what_only_linux_has_is_found(self):
        for code in ("internal import Glibc", "import CThread", "Glibc.free(a)", "sched_yield()",
                     "open(a, O_TMPFILE)", "socket(a, SOCK_CLOEXEC)", "pipe2(&a, 0)", "accept4(a)", "timerfd_create(a)",
                     "let a = try UTF8Span(validating: b)", "let a: [3 of Int] = b", "let a = InlineArray(b)",
                     "#if canImport(Darwin)\n#else\n#endif\nimport Glibc",
                     "#if canImport(Darwin)\nexplicit_bzero(a, b)\n#endif",
                     "#if !os(Linux)\ngettid()\n#endif", "#if os(Linux)\n#elseif os(iOS)\ngettid()\n#endif"):
            with self.subTest(code):
                self.assertEqual(len(self.faults(code)), 1)

    def test_what_apple_does_not_compile_passes(self):
        for code in ("#if canImport(Darwin)\nimport Darwin\n#else\nimport Glibc\n#endif",
                     "#if os(Linux)\nsched_yield()\n#endif", "#if canImport(CThread)\nimport CThread\n#endif",
                     "#if os(iOS)\n#if os(Linux)\ngettid()\n#endif\n#endif", "// Glibc.free", "let a = \"pipe2(\"",
                     "#if canImport(CFeedProto) && !FEED_CODEC_SWIFT\nlet a = UTF8Span()\n#endif",
                     "guard #available(iOS 26, macOS 26, *) else { return }\nlet a = UTF8Span()"):
            with self.subTest(code):
                self.assertEqual(self.faults(code), [])

    def test_apps_fetch_no_package_of_the_service(self):
        def described(package, condition):
            return {"targets": [{"name": "A", "dependencies": [{"byName": ["B", None]}, {
                "product": ["Yams", package, None, condition]}]}]}
        self.assertEqual(len(portable.fetch_faults(described("Yams", None))), 1)
        self.assertEqual(portable.fetch_faults(described("Yams", {"traits": ["Programs"]})), [])
        self.assertEqual(portable.fetch_faults(described("swift-nio", None)), [])

    def test_the_check_reads_the_client_libraries(self):
        folders, foreign = portable.modules(portable.manifest())
        self.assertIn("Sources/FeedClientNIO", folders)
        self.assertIn("Sources/FeedOffline", folders)
        self.assertLessEqual({"Glibc", "CThread", "CFeedProto", "FeedTransport", "FeedTLS"}, foreign)


class PageTests(unittest.TestCase):
    PAGES = {"README.md": "# Top\n[a](docs/A.md#the-way-of-a-vote) [b](docs) [c](#top) [d](https://x.y)\n",
             "docs/A.md": "## The way of a `vote`\n[up](../README.md)\n```\n# no heading [x](nowhere)\n```\n"}
    THREATS = "| T-A-1 | It | is so | `M/ATests.swift` `isSo` (twice), `staysSo`; `M/BTests.swift`; " \
        "`replica/m/c_test.go` `TestIsSo` |\n"
    SOURCES = {"Tests/M/ATests.swift": "func isSo() {}\nfunc staysSo() {} // T-A-1",
               "Tests/M/BTests.swift": "", "replica/m/c_test.go": "func TestIsSo(t *testing.T) {}"}

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
                 (self.THREATS.replace("TestIsSo", "TestIs"), self.SOURCES),
                 (self.THREATS.replace("m/c_test", "m/d_test"), self.SOURCES),
                 (self.THREATS + "| T-A-1 | again |\n", self.SOURCES),
                 (self.THREATS, self.SOURCES | {"Sources/M/C.swift": "// T-A-2"})]
        for page, sources in cases:
            with self.subTest(page=page, sources=sources):
                self.assertEqual(len(pages.threat_faults(page, sources)), 1)


class MetricTests(unittest.TestCase):
    def test_each_entry_is_a_row_of_the_table_of_its_kind(self):
        source = """
        // Normal: `x`, or 1
        .gauge("feed_a", "A.", a),
        // Normal: 0
        .counter(
            "feed_b_seconds",
            "B.",
            b
        ),
        // Normal: [c](#c)
        MetricFamily(
            "feed_c",
            .info,
            help: "C.",
            samples: []
        ),
"""
        self.assertEqual(metrics.tables(source),
                         "| Counter: normal |\n| --- |\n| `feed_b_seconds`: 0 |\n\n"
                         "| Other: normal |\n| --- |\n| `feed_a`: `x`, or 1 |\n| `feed_c`: [c](#c) |\n")


class ParameterTests(unittest.TestCase):
    def test_finds_lists_of_four_without_a_label(self):
        long = "struct A {\n    func f<T>(_ a: T, _ b: (Int, Int),\n        _ c: [Int: T], at d: Int, _ e: Int) {}\n}\n"
        self.assertEqual(list(parameters.long_lists("A.swift", long)),
                         ["A.swift:2: f takes 4 parameters without a label"])
        for labelled in (long.replace("_ b", "b"), long.replace("_ e", "to e")):
            self.assertEqual(list(parameters.long_lists("A.swift", labelled)), [])


if __name__ == "__main__":
    unittest.main()
