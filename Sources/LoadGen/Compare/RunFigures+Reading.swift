import Foundation

extension RunFigures {
    /// Reads the figures of an earlier run from its JSON report.
    package init(readingReport path: String) throws(RunFailure) {
        let report: Report
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            report = try decoder.decode(Report.self, from: Data(contentsOf: URL(filePath: path)))
        } catch is DecodingError {
            throw .badBaseline(path, "The file is no JSON report of a run of loadgen.")
        } catch {
            throw .badBaseline(path, error.localizedDescription)
        }
        guard report.schema == 1 else {
            throw .badBaseline(
                path,
                "The report has schema \(report.schema); this program reads 1."
            )
        }
        let seconds = report.intervals.filter { $0.measured && $0.seconds > 0.5 }
        self.init(
            settings: report.config.settings,
            machine: Self.machine(report.env.processor, report.env.cores),
            isComparable: report.verdict.valid,
            rates: seconds.map { Double($0.answered) / $0.seconds },
            response99s: seconds.compactMap(\.responseMs.p99),
            serverCost: report.cpu.serverSecondsPerMillion
        )
    }

    /// Reads the figures of an earlier run of the load that `configuration` describes.
    package init(
        baselineAt path: String,
        for configuration: RunConfiguration
    ) throws(RunFailure) {
        try self.init(readingReport: path)
        let given = RunSettings(configuration)
        if let (flag, mine, other) = given.difference(from: settings) {
            throw .otherLoad(path, flag: flag, baseline: other, given: mine)
        }
    }

    /// The text for a machine, which is equal only for equal ones.
    package static func machine(_ processor: String, _ coreCount: Int) -> String {
        "\(processor), \(coreCount) cores"
    }

    /// The part of a report that is read.
    private struct Report: Decodable {
        var schema: Int
        var config: Configuration
        var env: Machine
        var verdict: Verdict
        var intervals: [Interval]
        var cpu: Processor
    }

    private struct Machine: Decodable {
        var processor: String
        var cores: Int
    }

    private struct Verdict: Decodable {
        var valid: Bool
    }

    private struct Processor: Decodable {
        var serverSecondsPerMillion: Double?
    }

    private struct Configuration: Decodable {
        /// Reports from before there were two have none.
        var `protocol`: String?
        var clients: Int
        var pipeline: Int
        var pipelineMode: String
        var batch: Int
        var rate: Double?
        var mix: String
        var posts: Int
        var keys: String
        var pageSize: Int
        var voters: Int
        // Reports from before these flags have none of them.
        var think: String?
        var ramp: [Double]?
        var reconnectEvery: UInt64?
        var connectionLifeSeconds: Double?

        var settings: RunSettings {
            RunSettings([
                .init("--protocol", `protocol` ?? WireProtocol.feed.rawValue),
                .init("--clients", "\(clients)"),
                .init("--pipeline", "\(pipeline)"),
                .init("--pipeline-mode", pipelineMode),
                .init("--batch", "\(batch)"),
                .init("--rate", NumberFormat.fixed(rate ?? 0, 0)),
                .init("--mix", mix),
                .init("--posts", "\(posts)"),
                .init("--keys", keys),
                .init("--page-size", "\(pageSize)"),
                .init("--voters", "\(voters)"),
                .init("--think", think ?? ThinkTime.none.description),
                .init("--ramp", RunSettings.ramp(ramp)),
                .init("--reconnect-every", "\(reconnectEvery ?? 0)"),
                .init("--conn-life", RunSettings.seconds(connectionLifeSeconds)),
            ])
        }
    }

    /// A second of a run, with a member for each operation.
    private struct Interval: Decodable {
        var measured: Bool
        var seconds: Double
        var answered: UInt64
        var responseMs: Response

        struct Response: Decodable {
            var p99: Double?
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            measured = try members.decode(Bool.self, forKey: Key(stringValue: "measured"))
            seconds = try members.decode(Double.self, forKey: Key(stringValue: "seconds"))
            responseMs = try members.decode(Response.self, forKey: Key(stringValue: "responseMs"))
            answered = 0
            for operation in Operation.allCases {
                let key = Key(stringValue: operation.name)
                answered += try members.decodeIfPresent(UInt64.self, forKey: key) ?? 0
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
