import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// What persons are told of failures.
struct FailureTextTests {
    /// Reasons that a developer or an operator mends, and no person.
    private static let technical: Set = [
        "BAD_PAGE_SIZE", "BATCH_TOO_LARGE", "BAD_VOTE", "BAD_COUNT", "BAD_TIME", "BAD_FIELD",
        "BAD_FRAME", "BAD_ADDRESS", "SEQUENCE_EXPIRED", "SEQUENCE_REUSED", "CHANNEL_FENCED",
        "NOT_DURABLE", "NO_CLUSTER", "REPLICA_REFUSED", "REPLICA_SILENT", "BACKUP_RUNNING",
        "BACKUP_NO_ROOM", "BACKUP_CANCELLED", "VOTERS_UNSUPPORTED",
    ]

    /// A new reason has a text here, or is technical.
    @Test func eachReasonThatAPersonMeetsHasAText() throws {
        var names: Set<String> = []
        for path in ["FeedProto/Values/Reason.swift", "FeedClient/FailureTexts.swift"] {
            let file = Programs.projectFolder.appending(path: "Sources/" + path)
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: /Self\(rawValue: "([A-Z_]+)"\)/) {
                names.insert(String(match.1))
            }
        }
        #expect(names.count > 60)
        let texts = Set(Reason.texts.keys.map(\.rawValue))
        #expect(names.subtracting(texts) == Self.technical)
        #expect(texts.isSubset(of: names))
    }

    @Test func textsAreSentencesWithoutNames() {
        for (reason, text) in Reason.texts {
            #expect(text.wholeMatch(of: /([A-Z][A-Za-z ,'-]+[.?] ?)+/) != nil, "\(reason): \(text)")
        }
    }

    @Test func errorsSayIt() {
        let refused = FeedClientError.refused(
            Status(code: .notFound, reason: .postNotFound, message: "No post has the id 7.")
        )
        #expect(refused.localizedDescription == "This post is not there any more.")
        #expect((refused as any Error).localizedDescription == refused.reason.text)
        let unknown = Reason(rawValue: "BRAND_NEW")
        #expect(unknown.text == "That did not work. Please try again later.")
    }

    @Test func aLostChangeIsInDoubtAndALostReadIsNot() {
        for effect in [CallEffect.none, .unknown] {
            let isLost = effect == .unknown
            let lost = FeedClientError.connectionLost(reason: "", effect: effect)
            #expect(lost.reason == (isLost ? .inDoubt : .noConnection))
            let late = FeedClientError.deadlinePassed(timeout: .zero, effect: effect)
            #expect(late.reason == (isLost ? .inDoubt : .deadlineExceeded))
        }
        #expect(FeedClientError.inDoubt(.stateReplaced).reason == .inDoubt)
        #expect(FeedClientError.unknownHost(name: "", reason: "").reason == .noConnection)
    }

    @Test func aCancelledCallIsNamed() {
        #expect(FeedClientError.cancelled(effect: .unknown).isCancellation)
        #expect(!FeedClientError.closed.isCancellation)
    }
}
