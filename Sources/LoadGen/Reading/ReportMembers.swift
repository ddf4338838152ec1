/// The members of a JSON report that the text report is made from.
struct ReportMembers: Decodable {
    let config: Configuration
    let env: Machine
    let dataset: Dataset?
    let measuredSeconds: Double?
    let requestsPerSecond: Double?
    let interrupted: Bool
    let intervals: [JSONValue]
    let ops: [String: Operation]
    let outcomes: Outcomes
    let errors: Errors
    let connections: Connections
    let cpu: Processors
    let audit: Audit
    let latencySplitMs: Split?
    let slo: [Level]

    struct Configuration: Decodable {
        let runId: String?
        let `protocol`: String?
        let target: String
        let clients: Int
        let threads: Int
        let pipeline: Int
        let batch: Int
        let pipelineMode: String
        let rate: Double?
        let arrival: String
        let durationSeconds: Double?
        let requests: UInt64?
        let warmupSeconds: Double
        let mix: String
        let posts: Int
        let feed: String
        let voters: Int
        let keys: String
        let hottestPostShare: Double?
        let pageSize: Int
        let seed: UInt64
        let timeoutSeconds: Double
        let retry: Int
        let verify: Bool
        let strict: Bool?
        let percentiles: [Double]?
        let think: String?
        let ramp: [Double]?
        let reconnectEvery: UInt64?
        let connectionLifeSeconds: Double?
        let split: Bool?
    }

    struct Machine: Decodable {
        let processor: String
        let cores: Int
        let kernel: String
        let command: String
        let startTime: String
    }

    struct Dataset: Decodable {
        let importSeconds: Double?
        let files: [File]

        struct File: Decodable {
            let path: String
            let feed: String
            let posts: Int
            let upvotes: UInt64
            let downvotes: UInt64
            let leftOut: [LeftOut]
        }

        struct LeftOut: Decodable {
            let line: Int
            let field: String
            let reason: String
            let value: String
            let actual: UInt64
            let limit: UInt64
            let message: String
        }
    }

    struct Operation: Decodable {
        let count: UInt64
        let responseMs: Latency?
        let serviceMs: Latency?
        let slipMs: Latency?

        struct Latency: Decodable {
            let hdr: String
        }
    }

    struct Outcomes: Decodable {
        let sent: UInt64
        let ok: UInt64
        let error: UInt64
        let timeout: UInt64
        let lost: UInt64
        let lateAnswers: UInt64
        let lateSends: UInt64
        let unsent: UInt64
        let retries: UInt64
        let reconnects: UInt64
        let duplicates: UInt64
    }

    struct Errors: Decodable {
        let causes: [String: UInt64]
        let server: [String: UInt64]
        let firstProtocolError: String?
    }

    struct Connections: Decodable {
        let opened: Int
        let lost: Int
        let reads: UInt64
        let writes: UInt64
        let bytesIn: UInt64
        let bytesOut: UInt64
    }

    struct Processors: Decodable {
        let serverPid: Int?
        let server: Usage?
        let generator: Usage?
        let loopIdleShares: [Double?]
        let loopLateP99Ms: Double?
        let busyShare: Double?
        let stealShare: Double?

        struct Usage: Decodable {
            let seconds: Double?
            let userShare: Double?
            let busiestThreadShare: Double?
            let waitShare: Double?
            let residentBytes: UInt64
            let cores: [Int]?
        }
    }

    struct Audit: Decodable {
        let passed: Bool?
        let reason: String?
        let votesAcknowledged: UInt64?
        let votesUnknown: UInt64?
        let votesFailed: UInt64?
        let votesCounted: Int64?
        let posts: UInt64?
        let postsExact: UInt64?
        let postsCreated: UInt64?
        let postsListed: UInt64?
        let violations: [String: UInt64]?
        let examples: [String]?
    }

    struct Split: Decodable {
        let sampleCount: UInt64
        let otherClockCount: UInt64
        let there: Operation.Latency?
        let execution: Operation.Latency?
        let held: Operation.Latency?
        let back: Operation.Latency?
        let bothWays: Operation.Latency?
    }

    struct Level: Decodable {
        let text: String
    }
}
