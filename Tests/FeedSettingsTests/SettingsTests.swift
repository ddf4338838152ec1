import FeedSettings
import FeedTestSupport
import Foundation
import Testing

/// Which of three sources sets a flag.
struct SettingsTests {
    static let flags = [
        SettingFlag("config", .single),
        SettingFlag("listen", .repeated, defaultTexts: ["127.0.0.1:7433"]),
        SettingFlag("threads", .single),
        SettingFlag("data-dir", .single),
        SettingFlag("insecure", .toggle, defaultTexts: ["false"]),
        SettingFlag("state-hash", .toggle, isHidden: true, defaultTexts: ["false"]),
    ]

    /// The settings of a command line and variables; the parser refuses `--threads=many`.
    static func settings(
        _ commandLine: [String] = [],
        _ environment: [String: String] = [:]
    ) throws(SettingError) -> Settings {
        try Settings(
            flags: flags,
            commandLine: commandLine,
            environment: environment,
            prefix: ["feed", "service"],
            fileFlag: SettingFlag("config", .single)
        ) { arguments in
            arguments.contains("--threads=many") ? "The value 'many' is invalid." : nil
        }
    }

    private func setting(_ name: String, _ settings: Settings) throws -> Settings.Setting {
        try #require(settings.all.first { $0.flag.name == name })
    }

    @Test func flagsWinThenVariablesThenTheFile() throws {
        let file = try WrittenFile("threads: 1\ndata-dir: of-file\nlisten: [a, b]\n")
        let settings = try Self.settings(
            ["--threads", "3", "--config=\(file.path)"],
            ["FEED_SERVICE_THREADS": "2", "FEED_SERVICE_DATA_DIR": "of-variable"]
        )
        #expect(try setting("threads", settings).origin == .commandLine)
        #expect(try setting("data-dir", settings).origin == .variable("FEED_SERVICE_DATA_DIR"))
        #expect(try setting("listen", settings).origin == .file(file.path, line: 3))
        #expect(try setting("insecure", settings).origin == .unset)
        #expect(
            settings.arguments == [
                "--config=\(file.path)", "--listen=a", "--listen=b", "--threads=3",
                "--data-dir=of-variable",
            ]
        )
    }

    @Test func aSourceReplacesAllValuesOfARepeatedFlag() throws {
        let file = try WrittenFile("listen:\n  - a\n  - b\n")
        let environment = ["FEED_SERVICE_CONFIG": file.path, "FEED_SERVICE_LISTEN": "c, [::1]:1"]
        let all = try Self.settings([], environment).arguments
        #expect(all == ["--config=\(file.path)", "--listen=c", "--listen=[::1]:1"])
        let given = try Self.settings(["--listen", "d"], environment).arguments
        #expect(given == ["--config=\(file.path)", "--listen=d"])
    }

    @Test("a value is kept as it is: an empty one, one with a dash, a comma or an equals sign")
    func keepsValues() throws {
        #expect(try Self.settings(["--data-dir", "--x"]).arguments == ["--data-dir=--x"])
        #expect(try Self.settings(["--data-dir", ""]).arguments == ["--data-dir", ""])
        #expect(
            try Self.settings([], ["FEED_SERVICE_DATA_DIR": "a,b=c"]).arguments
                == ["--data-dir=a,b=c"]
        )
        let file = try WrittenFile("data-dir: \"\"\nthreads: 007\n")
        #expect(
            try Self.settings(["--config", file.path]).arguments.dropFirst()
                == ["--threads=007", "--data-dir", ""]
        )
    }

    @Test func aVariableTurnsOffWhatTheFileTurnsOn() throws {
        let file = try WrittenFile("insecure: true\n")
        let on = try Self.settings(["--config", file.path])
        #expect(on.arguments.contains("--insecure"))
        let off = try Self.settings(["--config", file.path], ["FEED_SERVICE_INSECURE": "false"])
        #expect(!off.arguments.contains("--insecure"))
    }

    @Test("words of other commands and variables of other programs are not looked at")
    func leavesOthersAlone() throws {
        let settings = try Self.settings(
            ["config", "--threads", "2"],
            ["FEED_SEED": "1", "PATH": "/bin", "SERVICE_THREADS": "7"]
        )
        #expect(settings.arguments == ["--threads=2"])
    }

    @Test func aRefusedFlagIsNamedByWhatHasSetIt() throws {
        let file = try WrittenFile("\nthreads: 300\n")
        let settings = try Self.settings(
            ["--config", file.path, "--insecure"],
            ["FEED_SERVICE_LISTEN": "x"]
        )
        #expect(settings.place(of: "--threads") == "\(file.path):2: threads")
        #expect(settings.place(of: "--listen") == "FEED_SERVICE_LISTEN")
        #expect(settings.place(of: "--insecure") == "--insecure")
        #expect(settings.place(of: "--data-dir") == "--data-dir")
        #expect(settings.place(of: "NAME") == "NAME")
    }

    @Test func theReportIsAFileThatSetsTheSame() throws {
        let first = try Self.settings(
            ["--listen", "[::1]:0", "--listen", "127.0.0.1:0", "--data-dir", "it's", "--insecure"]
        )
        let report = first.report(computed: ["threads": "4"], fileFlag: "config")
        #expect(
            report == """
                # config:                           # not set
                listen: ['[::1]:0', '127.0.0.1:0']  # --listen
                threads: 4                          # default
                data-dir: 'it''s'                   # --data-dir
                insecure: true                      # --insecure
                """
        )
        let file = try WrittenFile(report)
        let second = try Self.settings(["--config", file.path]).arguments
        #expect(Set(second) == Set(first.arguments + ["--threads=4", "--config=\(file.path)"]))
    }
}

/// The flags that the parser of a command line describes.
struct SettingFlagTests {
    @Test func eachFlagOfTheCommandItselfIsListed() {
        let dump = """
            {"serializationVersion": 0, "command": {"commandName": "a", "arguments": [
                {"kind": "positional", "isRepeating": false, "isOptional": false,
                 "shouldDisplay": true, "valueName": "file"},
                {"kind": "option", "isRepeating": true, "shouldDisplay": true,
                 "names": [{"kind": "short", "name": "l"}, {"kind": "long", "name": "listen"}],
                 "defaultValue": "127.0.0.1:1, [::1]:1"},
                {"kind": "option", "isRepeating": false, "shouldDisplay": false,
                 "names": [{"kind": "long", "name": "fold-bytes"}], "defaultValue": "a, b"},
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "long", "name": "insecure"}]},
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "long", "name": "version"}]},
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "short", "name": "h"}, {"kind": "long", "name": "help"}]}
            ], "subcommands": [{"commandName": "b", "arguments": [
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "long", "name": "other"}]}
            ]}]}}
            """
        #expect(
            SettingFlag.list(ofDump: dump) == [
                SettingFlag("listen", .repeated, defaultTexts: ["127.0.0.1:1", "[::1]:1"]),
                SettingFlag("fold-bytes", .single, isHidden: true, defaultTexts: ["a, b"]),
                SettingFlag("insecure", .toggle, defaultTexts: ["false"]),
            ]
        )
    }

    @Test func argumentsGiveTheFlagItsValues() {
        #expect(SettingFlag("a", .toggle).arguments(["true"]) == ["--a"])
        #expect(SettingFlag("a", .toggle).arguments(["false"]) == [])
        #expect(SettingFlag("a", .single).arguments(["-1"]) == ["--a=-1"])
        #expect(SettingFlag("a", .repeated).arguments(["b", ""]) == ["--a=b", "--a", ""])
    }
}

struct WrittenFile {
    let path: String
    private let directory: TemporaryDirectory

    init(_ text: String, name: String = "feed-service.yaml") throws {
        directory = try TemporaryDirectory()
        path = "\(directory.path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}
