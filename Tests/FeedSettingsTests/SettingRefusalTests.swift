import FeedSettings
import Foundation
import Testing

/// What is said of wrong files and variables, word for word.
struct SettingRefusalTests {
    static let badFiles: [(String, String)] = [
        ("# comment\n\nthreds: 4\n", "FILE:3: unknown key \"threds\"; did you mean \"threads\"?"),
        ("data_dir: x\n", "FILE:1: unknown key \"data_dir\"; did you mean \"data-dir\"?"),
        ("colour: red\n", "FILE:1: unknown key \"colour\""),
        ("state-hsh: true\n", "FILE:1: unknown key \"state-hsh\""),
        ("config: other.yaml\n", "FILE:1: a file names no other file, as \"config\" would."),
        ("threads: 2\ndata-dir: a\nthreads: 3\n", "FILE:1: the key \"threads\" is there twice."),
        ("threads: [1, 2]\n", "FILE:1: threads: expected one value, got a list."),
        ("threads:\n", "FILE:1: threads: expected a value, got none."),
        ("listen: []\n", "FILE:1: listen: expected a value, got none."),
        ("listen:\n  - a\n  -\n", "FILE:1: listen: expected a value, got none."),
        (
            "data-dir: a\nthreads:\n  count: 2\n",
            "FILE:2: threads: expected a value or a list of values."
        ),
        ("? [a]\n: b\n", "FILE:1: expected a key, as in `threads: 4`."),
        ("data-dir: a\ninsecure: yes\n", "FILE:2: insecure: expected true or false, got yes."),
        ("\nthreads: many\n", "FILE:2: threads: The value 'many' is invalid."),
        ("threads = 4\n", "FILE:1: expected lines as `threads: 4`."),
        (
            "threads: 4\nlisten: [::1]:0\n",
            "FILE:2: this is no YAML: did not find expected node content."
        ),
        ("threads: 4\n---\nthreads: 5\n", "FILE:2: this is no YAML: but found another document."),
        ("data-dir: *a\n", "FILE:1: this is no YAML: found undefined alias."),
        ("a: \u{1}\n", "FILE: this is no YAML: control characters are not allowed."),
        (
            String(repeating: "#", count: SettingsFile.maximumByteCount + 1),
            "--config: FILE is longer than 65536 bytes."
        ),
    ]

    @Test(arguments: badFiles)
    func aWrongFileIsRefusedByNameAndLine(_ text: String, _ complaint: String) throws {
        let file = try WrittenFile(text)
        let error = #expect(throws: SettingError.self) {
            try SettingsTests.settings(["--config", file.path])
        }
        #expect(error?.description == complaint.replacing("FILE", with: file.path))
    }

    @Test(arguments: ["", "# nothing\n", "---\n", "{}\n"])
    func aFileWithoutKeysSetsNothing(_ text: String) throws {
        let file = try WrittenFile(text)
        let settings = try SettingsTests.settings(["--config", file.path])
        #expect(settings.arguments == ["--config=\(file.path)"])
    }

    @Test func aFileThatCannotBeReadIsNamedWithTheFlag() throws {
        let error = #expect(throws: SettingError.self) {
            try SettingsTests.settings(["--config", "/nowhere/a.yaml"])
        }
        #expect(
            error?.description
                == "--config: /nowhere/a.yaml cannot be read: No such file or directory."
        )
        let other = #expect(throws: SettingError.self) {
            try SettingsTests.settings([], ["FEED_SERVICE_CONFIG": "/nowhere/a.yaml"])
        }
        #expect(other?.place == "FEED_SERVICE_CONFIG")
        let folder = #expect(throws: SettingError.self) {
            try SettingsTests.settings(["--config", "/tmp"])
        }
        #expect(folder?.description == "--config: /tmp cannot be read: Is a directory.")
    }

    @Test func aFileThatIsNoTextIsRefused() throws {
        let file = try WrittenFile("")
        try Data([0xff, 0xfe, 0x00]).write(to: URL(filePath: file.path))
        let error = #expect(throws: SettingError.self) {
            try SettingsTests.settings(["--config", file.path])
        }
        #expect(error?.description == "--config: \(file.path) is not UTF-8.")
    }

    @Test(arguments: [
        (
            "FEED_SERVICE_THREDS", "4",
            "FEED_SERVICE_THREDS: unknown variable; did you mean FEED_SERVICE_THREADS?"
        ),
        ("FEED_SERVICE_COLOUR", "red", "FEED_SERVICE_COLOUR: unknown variable"),
        ("FEED_SERVICE_THREADS", "many", "FEED_SERVICE_THREADS: The value 'many' is invalid."),
        ("FEED_SERVICE_INSECURE", "1", "FEED_SERVICE_INSECURE: expected true or false, got 1."),
    ])
    func aWrongVariableIsRefusedByName(name: String, text: String, complaint: String) {
        let error = #expect(throws: SettingError.self) {
            try SettingsTests.settings([], [name: text])
        }
        #expect(error?.description == complaint)
    }

    @Test func aValueThatAnotherOneOverridesIsNotParsed() throws {
        let settings = try SettingsTests.settings(
            ["--threads", "2"],
            ["FEED_SERVICE_THREADS": "many"]
        )
        #expect(settings.arguments == ["--threads=2"])
    }
}
