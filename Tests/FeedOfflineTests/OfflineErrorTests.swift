import FeedClient
import FeedOffline
import FeedProto
import Foundation
import Testing

/// What persons are told of an offline feed's failures.
struct OfflineErrorTests {
    @Test(arguments: [
        (OfflineError.outboxFull(limit: 3), Reason.outboxFull), (.inUse(path: "/f"), .fileInUse),
        (.damaged(reason: ""), .outboxLost), (.damagedPosts, .postsDropped),
        (.file(reason: ""), .fileUnusable), (.unknownPost(1), .postNotFound),
        (.service(.unknownHost(name: "", reason: "")), .noConnection),
    ])
    func errorsSayWhatThePersonMayDo(_ error: OfflineError, _ reason: Reason) {
        #expect(error.reason == reason)
        #expect(error.localizedDescription == Reason.texts[reason])
        #expect((error as any Error).localizedDescription == Reason.texts[reason])
    }

    @Test func aCancelledSyncIsNamed() {
        #expect(OfflineError.service(.cancelled(effect: .none)).isCancellation)
        #expect(!OfflineError.closed.isCancellation)
    }

    @Test func anEntryThatWasNotDoneSaysWhy() {
        func reason(_ state: OutboxState) -> Reason? {
            let request = Request.castVote(CastVoteRequest(postID: 1, direction: .up))
            return OutboxEntry(number: 1, request: request, state: state, sequence: 0, userID: 0)
                .reason
        }
        let status = Status(code: .notFound, reason: .postNotFound, message: "")
        #expect(reason(.failed(status)) == .postNotFound)
        #expect(reason(.inDoubt(.stateReplaced)) == .inDoubt)
        #expect(reason(.waiting) == nil)
        #expect(reason(.sent) == nil)
    }
}
