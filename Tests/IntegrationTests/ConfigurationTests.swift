import FeedSettings
import FeedTestSupport
import Foundation
import Testing

/// The settings of a service from flags, variables and a file, as processes of their own.
@Suite(.timeLimit(.minutes(10))) struct ConfigurationTests {
    private struct WrittenFile {
        let directory: TemporaryDirectory
        let path: String

        init(_ text: String) throws {
            directory = try TemporaryDirectory()
            path = "\(directory.path)/feed-service.yaml"
            try Data(text.utf8).write(to: URL(filePath: path))
        }
    }

    /// What `feed-service config` prints with flags and variables.
    private static func config(
        _ arguments: [String] = [],
        _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: [String]) {
        try await RunningProcess(
            Programs.feedService,
            ["config"] + arguments,
            environment: environment
        ).finish()
    }

    private static func flags() async throws -> [SettingFlag] {
        let dump = try await RunningProcess(
            Programs.feedService,
            ["--experimental-dump-help"]
        ).finish()
        return SettingFlag.list(ofDump: dump.output.joined(separator: "\n"))
    }

    private static func parts(_ line: String) -> (text: String, origin: String) {
        let parts = line.split(separator: "  # ", maxSplits: 1)
        let text = parts.first ?? ""
        return (String(text.reversed().drop { $0 == " " }.reversed()), String(parts.last ?? ""))
    }

    /// The value of a setting, or the sentence that refuses it, without the place that it comes from.
    private static func outcome(
        _ result: (status: Int32, output: [String]),
        of flag: SettingFlag,
        from place: String
    ) -> String {
        guard result.status == 0 else {
            let line = result.output.first ?? ""
            return line.replacing("feed-service: ", with: "").replacing("\(place): ", with: "")
        }
        let line = result.output.first { $0.hasPrefix("\(flag.name): ") } ?? ""
        let parts = Self.parts(line)
        return parts.origin == place ? parts.text : "not from \(place)"
    }

    @Test("each flag can be set by a flag, a variable and a file, with the same outcome")
    func eachFlagHasThreeSources() async throws {
        let flags = try await Self.flags().filter { $0.name != "config" }
        #expect(flags.count > 10)
        for flag in flags {
            // A refusal of the value is as good: it has to be the same one.
            let text = flag.kind == .toggle ? "true" : "7"
            let given = try await Self.config(flag.arguments([text]))
            let variable = "FEED_SERVICE_\(flag.name.uppercased().replacing("-", with: "_"))"
            let ofVariable = try await Self.config([], [variable: text])
            let file = try WrittenFile("\(flag.name): \(text)\n")
            let ofFile = try await Self.config(["--config", file.path])
            let place = "\(file.path):1" + (ofFile.status == 0 ? "" : ": \(flag.name)")

            #expect(ofVariable.status == given.status && ofFile.status == given.status)
            let expected = Self.outcome(given, of: flag, from: flag.flag)
            for (result, place) in [(ofVariable, variable), (ofFile, place)] {
                let outcome = Self.outcome(result, of: flag, from: place)
                #expect(!outcome.isEmpty && expected.hasSuffix(outcome), "\(result.output)")
            }
        }
    }

    @Test func theUsageNamesTheOptionsOfTheService() async throws {
        let (status, output) = try await Self.config(["--help"])
        #expect(status == 0)
        let usage = "USAGE: feed-service config [--config <file>] [<options of feed-service> ...]"
        #expect(output.contains(usage), "\(output)")
    }

    @Test("prints what stands and where it comes from, and the output is such a file")
    func printsWhatStands() async throws {
        let file = try WrittenFile("threads: 2\ndurability: os\n")
        let (status, output) = try await Self.config(
            ["--config", file.path, "--stripes", "32"],
            ["FEED_SERVICE_DATA_DIR": "/srv/feed"]
        )
        #expect(status == 0, "\(output)")
        let lines = output.map { "\(Self.parts($0).text) # \(Self.parts($0).origin)" }
        for line in [
            "# config: \(file.path) # --config", "listen: ['127.0.0.1:7433'] # default",
            "threads: 2 # \(file.path):1", "stripes: 32 # --stripes",
            "data-dir: /srv/feed # FEED_SERVICE_DATA_DIR", "durability: os # \(file.path):2",
            "keep-backups: 7 # default", "in-memory: false # default",
            "# service-keys: # not set",
        ] {
            #expect(lines.contains(line), "\(line) is not in \(lines)")
        }
        #expect(!lines.contains { $0.contains("state-hash") })
        let again = try WrittenFile(output.joined(separator: "\n"))
        let second = try await Self.config(["--config", again.path])
        #expect(second.status == 0)
        #expect(
            second.output.dropFirst().map { Self.parts($0).text }
                == output.dropFirst().map { Self.parts($0).text }
        )
    }

    @Test("a service starts with a file and variables, and flags win")
    func startsWithAFile() async throws {
        let file = try WrittenFile(
            "listen: 127.0.0.1:0\nin-memory: true\nthreads: 3\nstripes: 64\n"
        )
        let process = try RunningProcess(
            Programs.feedService,
            ["--threads", "2"],
            environment: ["FEED_SERVICE_CONFIG": file.path, "FEED_SERVICE_STRIPES": "32"]
        )
        let line = await process.line { $0.contains("listening on") }
        #expect(line?.contains(": threads 2 (") == true, "\(process.output)")
        #expect(line?.contains("stripes 32, durability none") == true, "\(process.output)")
        process.signal(15)
        #expect(await process.exitStatus() == 0)
    }

    /// Sources that keep the service from starting; `FILE` is the path of the file.
    struct BadSource: Sendable, CustomTestStringConvertible {
        var testDescription: String { complaint }
        var file = ""
        var environment: [String: String] = [:]
        var complaint: String
    }

    static let badSources = [
        BadSource(
            file: "in-memory: true\nthreds: 4\n",
            complaint: "feed-service: FILE:2: unknown key \"threds\"; did you mean \"threads\"?"
        ),
        BadSource(
            file: "threads: 0\n",
            complaint: "feed-service: FILE:1: threads: expected 1 to 256, got 0."
        ),
        BadSource(
            file: "\nkeep-backups: some\n",
            complaint:
                "feed-service: FILE:2: keep-backups: The value 'some' is invalid for "
                + "'--keep-backups <count>'"
        ),
        BadSource(
            file: "listen: [127.0.0.1:0, 0.0.0.0:0]\n",
            complaint:
                "feed-service: FILE:1: listen: 0.0.0.0:0 is not a loopback address: its traffic "
                + "would be unencrypted"
        ),
        BadSource(
            file: "in-memory: true\ndata-dir: feed\n",
            complaint:
                "feed-service: FILE:2: data-dir: --in-memory keeps nothing, and goes without it; "
                + "got feed."
        ),
        BadSource(
            environment: ["FEED_SERVICE_THREADS": "many"],
            complaint: "feed-service: FEED_SERVICE_THREADS: expected 1 to 256, got many."
        ),
        BadSource(
            environment: ["FEED_SERVICE_KEEP_BACKUPS": "some"],
            complaint:
                "feed-service: FEED_SERVICE_KEEP_BACKUPS: The value 'some' is invalid for "
                + "'--keep-backups <count>'"
        ),
        BadSource(
            environment: ["FEED_SERVICE_THREDS": "4"],
            complaint:
                "feed-service: FEED_SERVICE_THREDS: unknown variable; did you mean "
                + "FEED_SERVICE_THREADS?"
        ),
        BadSource(
            environment: ["FEED_SERVICE_CONFIG": "/nowhere.yaml"],
            complaint: "feed-service: FEED_SERVICE_CONFIG: /nowhere.yaml cannot be read: "
        ),
    ]

    @Test("a wrong key, variable or value: its name, its line, exit 2", arguments: badSources)
    func refusesWrongSources(_ bad: BadSource) async throws {
        let file = try WrittenFile(bad.file)
        let arguments = bad.file.isEmpty ? ["--listen", "127.0.0.1:0"] : ["--config", file.path]
        let complaint = bad.complaint.replacing("FILE", with: file.path)
        for command in [[], ["config"]] {
            let process = try RunningProcess(
                Programs.feedService,
                command + arguments,
                environment: bad.environment
            )
            let (status, output) = await process.finish()
            #expect(status == 2)
            #expect(output.first?.hasPrefix(complaint) == true, "\(output)")
        }
    }

    @Test("other commands look at no variable and no file")
    func otherCommandsLookAtNone() async throws {
        let (status, output) = try await RunningProcess(
            Programs.feedService,
            ["verify", "/nowhere"],
            environment: ["FEED_SERVICE_THREDS": "4"]
        ).finish()
        #expect(status == 2)
        #expect(output.contains { $0.contains("/nowhere") }, "\(output)")
    }

    @Test("the example of docs/OPERATIONS.md is a file that the service takes")
    func theExampleIsTaken() async throws {
        let page = try String(
            contentsOf: Programs.projectFolder.appending(path: "docs/OPERATIONS.md"),
            encoding: .utf8
        )
        let example = try #require(page.firstMatch(of: /(?s)```yaml\n(.*?)```/)).1
        let file = try WrittenFile(String(example))
        let (status, output) = try await Self.config(["--config", file.path])
        #expect(status == 0, "\(output)")
        #expect(output.contains { $0.contains("\(file.path):") })
    }
}
