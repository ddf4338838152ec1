internal import FeedImport
import Foundation

// The members of the parts of a report: where, with what, of which files, and how it was judged.

extension Environment: JSONReadable {
    package static var unread: Environment { Environment() }

    package static let members: [Member<Environment>] = [
        .required("processor", \.processor, .plain),
        .required("cores", \.coreCount, .within(0...65_536)),
        .required("kernel", \.kernel, .plain),
        .required("command", \.command, .plain),
        .required("start_time", \.startTime, .plain),
        .written("debug_build") { _ in isDebugBuild },
    ]
}

extension ProcessUsage: JSONReadable {
    package static var unread: ProcessUsage {
        ProcessUsage(
            seconds: 0,
            userShare: 0,
            busiestThreadShare: 0,
            waitShare: 0,
            residentByteCount: 0,
            cores: []
        )
    }

    package static let members: [Member<ProcessUsage>] = [
        .usual("seconds", \.seconds, .plain),
        .usual("user_share", \.userShare, .plain),
        .usual("busiest_thread_share", \.busiestThreadShare, .plain),
        .usual("wait_share", \.waitShare, .plain),
        .required("resident_bytes", \.residentByteCount, .count),
        .usual("cores", \.cores, Form(write: { $0.sorted() }, read: { cores, _ in Set(cores) })),
    ]
}

extension DatasetResult: JSONReadable {
    package static var unread: DatasetResult { DatasetResult(files: [], importSeconds: 0) }

    package static let members: [Member<DatasetResult>] = [
        .usual("import_seconds", \.importSeconds, .plain),
        .written("posts") { $0.postCount },
        .written("left_out") { $0.leftOutCount },
        .written("upvotes") { $0.upvoteCount },
        .written("downvotes") { $0.downvoteCount },
        .written("repeat") { $0.repeatCount },
        .required("files", \.files, .plain),
    ]
}

extension DatasetResult.File: JSONReadable {
    package static var unread: DatasetResult.File {
        DatasetResult.File(
            path: "",
            name: "",
            feed: "",
            postCount: 0,
            upvoteCount: 0,
            downvoteCount: 0,
            leftOut: []
        )
    }

    package static let members: [Member<DatasetResult.File>] = [
        Member(
            write: { try $1.encode($0.path, forKey: "path") },
            read: { file, reader in
                file.path = try reader.decode(String.self, forKey: "path")
                file.name = URL(filePath: file.path).lastPathComponent
            }
        ),
        .required("feed", \.feed, .plain),
        .required("posts", \.postCount, .within(0...1_000_000_000)),
        .required("upvotes", \.upvoteCount, .within(0...1 << 41)),
        .required("downvotes", \.downvoteCount, .within(0...1 << 41)),
        .required(
            "left_out",
            \.leftOut,
            Form(write: { $0.map(LeftOut.init) }, read: { posts, _ in posts.map(\.post) })
        ),
    ]
}

/// A post that was not imported, with its message.
private struct LeftOut: JSONReadable {
    var post: LeftOutPost

    static var unread: LeftOut {
        LeftOut(
            post: LeftOutPost(line: 0, field: "", reason: "", actual: 0, limit: 0, message: "")
        )
    }

    static let members: [Member<LeftOut>] = [
        .required("line", \.post.line, .plain),
        .required("field", \.post.field, .plain),
        .required("reason", \.post.reason, .plain),
        .required("value", \.post.value, .plain),
        .required("actual", \.post.actual, .plain),
        .required("limit", \.post.limit, .plain),
        .required("message", \.post.message, .plain),
    ]
}

/// The object has `passed`. It is null if there was no audit, and then there is a reason.
extension AuditOutcome: Codable {
    private static let notAskedFor = "not asked for"

    package func encode(to encoder: any Encoder) throws {
        var writer = encoder.container(keyedBy: MemberKey.self)
        switch self {
        case .skipped: try Self.encode(reason: Self.notAskedFor, to: &writer)
        case .impossible(let cause): try Self.encode(reason: cause, to: &writer)
        case .done(let summary):
            try writer.encode(summary.findings.isEmpty, forKey: "passed")
            try summary.encode(to: encoder)
        }
    }

    private static func encode(
        reason: String,
        to writer: inout KeyedEncodingContainer<MemberKey>
    ) throws {
        try writer.encodeNil(forKey: "passed")
        try writer.encode(reason, forKey: "reason")
    }

    package init(from decoder: any Decoder) throws {
        let reader = try decoder.container(keyedBy: MemberKey.self)
        guard try reader.decodeIfPresent(Bool.self, forKey: "passed") == nil else {
            self = .done(try AuditSummary(from: decoder))
            return
        }
        let reason = try reader.decodeIfPresent(String.self, forKey: "reason") ?? ""
        self = reason == Self.notAskedFor ? .skipped : .impossible(reason)
    }
}

extension AuditSummary: JSONReadable {
    package static var unread: AuditSummary { AuditSummary() }

    package static let members: [Member<AuditSummary>] = [
        .usual("votes_acknowledged", \.acknowledgedVoteCount, .count),
        .usual("votes_unknown", \.unknownVoteCount, .count),
        .usual("votes_failed", \.failedVoteCount, .count),
        .usual("votes_counted", \.countedVoteCount, .within(-1 << 50...1 << 50)),
        .usual("posts", \.postCount, .count),
        .usual("posts_exact", \.exactPostCount, .count),
        .usual("posts_created", \.createdPostCount, .count),
        .usual("posts_listed", \.listedPostCount, .count),
        .usual("violations", \.findings.countsByName, .counts),
        .usual("examples", \.findings.examples, .plain),
    ]
}

extension Findings {
    /// How often each violation was found, by its name in a document; others are dropped.
    fileprivate var countsByName: [String: UInt64] {
        get { Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }) }
        set {
            let known = newValue.compactMap { name, count in
                Violation(rawValue: name).map { ($0, count) }
            }
            counts = Dictionary(uniqueKeysWithValues: known)
        }
    }
}

/// What a report says of its own figures.
struct JudgedRun: JSONDescribed {
    private let verdict: Verdict
    private let drift: Double?
    private let crowdedCoreCount: Int?

    init(_ report: RunReport) {
        verdict = report.verdict
        drift = report.drift
        crowdedCoreCount = report.crowdedCoreCount
    }

    static let members: [Member<JudgedRun>] = [
        .written("valid") { $0.verdict.isValid },
        .written("figures") { $0.verdict.figures.rawValue },
        .written("bound") { $0.verdict.bound.rawValue },
        .written("contended") { $0.verdict.isContended },
        .written("drift") { $0.drift },
        .written("shared_cores") { $0.crowdedCoreCount },
        .written("summary") { $0.verdict.summary },
        .written("reasons") { $0.verdict.reasons },
    ]
}

extension ServiceLevelResult: JSONDescribed {
    package static let members: [Member<ServiceLevelResult>] = [
        .written("text") { $0.level.text },
        .written("value") { $0.value },
        .written("kept") { $0.isKept },
    ]
}
