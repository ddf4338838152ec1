import FeedClient
import FeedCtl
import FeedOffline
import FeedProto
import Testing

/// What `sync`, `outbox` and `--queue` print.
struct OutboxReportTests {
    private static func entry(
        _ number: UInt64,
        _ request: Request,
        _ state: OutboxState = .waiting,
        user: UserID = 5
    ) -> OutboxEntry {
        OutboxEntry(number: number, request: request, state: state, sequence: 0, userID: user)
    }

    private static let vote = Request.castVote(CastVoteRequest(postID: 7, direction: .up))

    @Test func anEmptyOutboxIsALine() throws {
        let report = OutboxReport([], for: 5)
        #expect(ReportTests.text(report) == "The outbox is empty.\n")
        let object = try ReportTests.object(report)
        #expect(object.keys.sorted() == ["entries"])
        #expect((object["entries"] as? [Any])?.isEmpty == true)
    }

    @Test func anEntrySaysWhatItChangesAndWhatItWaitsFor() {
        let refusal = Status(code: .invalidArgument, reason: .titleTooLong, message: "Too long.")
        let title = Post(title: "Pear\u{1B}", text: "text")
        let edit = UpdatePostRequest(post: Post(id: 8), updateMask: [.title])
        let report = OutboxReport(
            [
                Self.entry(1, Self.vote),
                Self.entry(2, .createPost(CreatePostRequest(feed: "posts", post: title)), user: 6),
                Self.entry(
                    3,
                    .createPost(CreatePostRequest(feed: "tweets", post: Post(text: "A")))
                ),
                Self.entry(4, .updatePost(edit), .sent, user: 0),
                Self.entry(5, .deletePost(DeletePostRequest(id: 9)), .failed(refusal)),
                Self.entry(
                    6,
                    .markPosts(MarkPostsRequest(mark: .read, postIDs: [7])),
                    .inDoubt(.fileIsOld),
                    user: 6
                ),
                Self.entry(7, Self.vote, .sent),
            ],
            for: 5
        )
        #expect(
            ReportTests.text(report) == """
                ENTRY  STATE     CHANGE                     REASON
                    1  waiting   vote up on 7
                    2  waiting   post in posts: Pear\\u{1B}  It is sent once account 6 signs in.
                    3  waiting   post in tweets: A
                    4  sent      edit of 8                  It is sent once nobody is signed in.
                    5  failed    deletion of 9              \(refusal)
                    6  in doubt  mark read                  \(OutboxDoubt.fileIsOld)
                    7  sent      vote up on 7

                """
        )
    }

    @Test func anEntryHasAllItsFieldsForPrograms() throws {
        let report = OutboxReport(
            [
                Self.entry(1, Self.vote, .inDoubt(.channelForgotten), user: 6),
                Self.entry(2, Self.vote),
            ],
            for: 5
        )
        let object = try ReportTests.object(report)
        let rows = try #require(object["entries"] as? [[String: Any]])
        #expect(rows.count == 2)
        for row in rows {
            #expect(row.keys.sorted() == ["change", "entry", "reason", "state", "user_id"])
        }
        #expect(rows[0]["entry"] as? Int == 1)
        #expect(rows[0]["state"] as? String == "in doubt")
        #expect(rows[0]["change"] as? String == "vote up on 7")
        #expect(rows[0]["user_id"] as? Int == 6)
        #expect(rows[0]["reason"] as? String == OutboxDoubt.channelForgotten.description)
        #expect(rows[1]["user_id"] as? Int == 5)
        #expect(rows[1]["reason"] as? String == "")
    }

    @Test func aSyncIsALineForTheOutboxAndOneForTheCopy() throws {
        var sync = SyncReport()
        sync.sentCount = 1
        sync.leftCount = 2
        sync.changedPostCount = 3
        sync.removedPostCount = 4
        #expect(
            ReportTests.text(SyncedReport(sync)) == """
                Outbox: 1 sent, 2 waiting.
                Copy: 3 posts changed, 4 removed.

                """
        )
        sync.otherUserCount = 2
        sync.failedCount = 5
        sync.inDoubtCount = 6
        sync.isReset = true
        let report = SyncedReport(sync)
        #expect(
            ReportTests.text(report) == """
                Outbox: 1 sent, 2 waiting, 2 of them for another account, 5 refused, 6 in doubt \
                (feedctl outbox).
                New copy: 3 posts changed, 4 removed.

                """
        )
        let object = try ReportTests.object(report)
        #expect(object["is_new_copy"] as? Bool == true)
        let numbers = object.compactMapValues { $0 as? Int }.filter { $0.key != "is_new_copy" }
        #expect(
            numbers == [
                "sent_count": 1, "waiting_count": 2, "other_user_count": 2, "failed_count": 5,
                "in_doubt_count": 6, "changed_post_count": 3, "removed_post_count": 4,
            ]
        )
    }

    @Test func aSyncThatLeavesSomethingToDecideNamesTheCommandForIt() {
        for change: (inout SyncReport) -> Void in [
            { $0.otherUserCount = 1 }, { $0.failedCount = 1 }, { $0.inDoubtCount = 1 },
        ] {
            var sync = SyncReport()
            change(&sync)
            let report = SyncedReport(sync)
            #expect(ReportTests.text(report).contains(" (feedctl outbox).\n"))
            #expect(report.isDone == (sync.otherUserCount > 0))
        }
    }

    @Test func aQueuedChangeIsALine() throws {
        let report = Sentence.queued(Self.entry(3, Self.vote))
        #expect(
            ReportTests.text(report)
                == "No service can be reached: the change waits as entry 3 for feedctl sync.\n"
        )
        let object = try ReportTests.object(report)
        #expect(object.keys.sorted() == ["entry"])
        #expect(object["entry"] as? Int == 3)
    }
}

/// Which failures leave a change in the outbox.
struct QueueTests {
    @Test func aChangeThatMayHaveLeftIsNotQueued() {
        let effects: [CallEffect] = [.none, .unknown]
        let errors: [FeedClientError] =
            effects.flatMap { effect -> [FeedClientError] in
                [
                    .connectionLost(reason: "gone", effect: effect),
                    .deadlinePassed(timeout: .seconds(5), effect: effect),
                    .cancelled(effect: effect), .protocolViolation(reason: "odd", effect: effect),
                ]
            } + [
                .badAddress(reason: "no port"), .inDoubt(.channelForgotten), .closed,
                .refused(Status(code: .unavailable, reason: .draining, message: "")),
                .requestTooLarge(byteCount: 2, limitByteCount: 1),
            ]
        for error in errors { #expect(!error.isUnreachable, "\(error)") }
        #expect(FeedClientError.cannotConnect(reason: "refused").isUnreachable)
        #expect(FeedClientError.unknownHost(name: "nowhere", reason: "none").isUnreachable)
    }
}
