import FeedClient
import FeedOffline
import FeedProto
import FeedSQLite
import FeedTestSupport
import Testing

/// People who use a device one after another: what is sent as whom, and whose marks the copy has.
@Suite(.timeLimit(.minutes(10))) struct OfflineUserTests {
    @Test func aChangeWaitsForTheAccountThatMadeIt() async throws {
        try await Device.run { device in
            let ann = try await device.signIn("ann")
            try await device.withFeed { try await $0.createPost(PostDraft(title: "Ann's")) }
            let bob = try await device.signIn("bob")
            try await device.withFeed { feed async throws in
                try await feed.createPost(PostDraft(title: "Bob's"))
                let report = try await feed.sync()
                #expect(report.sentCount == 1)
                #expect(report.leftCount == 1)
                #expect(report.otherUserCount == 1)
                let entries = try await feed.outbox()
                #expect(entries.map(\.userID) == [ann])
                #expect(entries.map(\.state) == [.waiting])
            }
            #expect(try await device.authors() == ["Bob's": bob])
            // Another session of the same account.
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                let report = try await feed.sync()
                #expect(report.sentCount == 1)
                #expect(report.otherUserCount == 0)
                #expect(try await feed.outbox().isEmpty)
            }
            #expect(try await device.authors() == ["Ann's": ann, "Bob's": bob])
        }
    }

    @Test func aChangeOfAnAccountIsNotSentAsNobodys() async throws {
        try await Device.run { device in
            let ann = try await device.signIn("ann")
            // Ann ends all of her sessions on another device, which this one does not know.
            let session = try #require(device.sessions.load())
            try await device.withClient { try await $0.signOut(everywhere: true) }
            device.sessions.save(session)
            try await device.withFeed { feed async throws in
                #expect(await feed.userID == ann)
                try await feed.createPost(PostDraft(title: "Ann's"))
                #expect(try await feed.sync().otherUserCount == 1)
                #expect(await feed.userID == 0)
                #expect(try await feed.outbox().map(\.state) == [.waiting])
            }
            #expect(try await device.authors().isEmpty)
            try await device.signIn("ann")
            #expect(try await device.sync().sentCount == 1)
            #expect(try await device.authors() == ["Ann's": ann])
        }
    }

    @Test func theDevicesChangesWaitUntilTheyAreHandedOver() async throws {
        try await Device.run { device in
            try await device.withFeed { feed async throws in
                try await feed.createPost(PostDraft(title: "first"))
                try await feed.createPost(PostDraft(title: "second"))
            }
            let ann = try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                #expect(try await feed.sync().otherUserCount == 2)
                let first = try #require(try await feed.outbox().first)
                try await feed.resend(first.number)
                // It is Ann's now, and waits for the service alone.
                await #expect(throws: OfflineError.unknownEntry(first.number)) {
                    try await feed.resend(first.number)
                }
                #expect(try await feed.sync().sentCount == 1)
            }
            #expect(try await device.authors() == ["first": ann])
            try await device.signOut()
            #expect(try await device.sync().sentCount == 1)
            #expect(try await device.authors() == ["first": ann, "second": 0])
        }
    }

    @Test func aChangeThatMayHaveLeftIsNotRepeatedAsAnotherAccount() async throws {
        try await Device.run { device in
            let ann = try await device.signIn("ann")
            var configuration = device.service.configuration()
            configuration.client.sessionStore = device.sessions
            // The program dies after its sequence is in the file, and before the entry leaves.
            let dying = try await OfflineFeed.open(configuration) { DyingOutbox(file: $0) }
            try await dying.createPost(PostDraft(title: "Ann's"))
            await #expect(throws: OfflineError.file(reason: "The program died.")) {
                try await dying.sync()
            }
            await dying.close()
            try await device.signIn("bob")
            try await device.withFeed { feed async throws in
                #expect(try await feed.outbox().map(\.state) == [.sent])
                #expect(try await feed.sync().otherUserCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.sent])
            }
            #expect(try await device.authors().isEmpty)
            try await device.signIn("ann")
            #expect(try await device.sync().sentCount == 1)
            #expect(try await device.authors() == ["Ann's": ann])
        }
    }

    private struct DyingOutbox: OutboxFile {
        let file: any OutboxFile

        func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry] {
            _ = try file.numberNext(of: userID)
            throw .file(reason: "The program died.")
        }

        func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {}
    }

    @Test func anAccountOfAnotherStateIsAnotherAccount() async throws {
        try await Device.run { device in
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                try await feed.sync()
                try await feed.createPost(PostDraft(title: "Ann's"))
            }
            await device.service.end(signal: 9)
            device.service.loseState()
            try await device.service.start()
            let bob = try await device.signIn("bob")
            try await device.withFeed { feed async throws in
                #expect(try await feed.outbox().map(\.userID) == [bob])
                #expect(try await feed.sync().inDoubtCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.inDoubt(.otherAccount)])
            }
            #expect(try await device.authors().isEmpty)
        }
    }

    @Test func aChangeFromBeforeTheFirstSyncIsOfTheStateThatGreetsFirst() async throws {
        try await Device.run { device in
            let ann = try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                try await feed.createPost(PostDraft(title: "Ann's"))
                try await feed.vote(on: 1, .up)
            }
            try await device.signIn("bob")
            #expect(try await device.sync().otherUserCount == 2)
            await device.service.end(signal: 9)
            device.service.loseState()
            try await device.service.start()
            // Another person, who has the number of Ann's account.
            #expect(try await device.signIn("eve") == ann)
            try await device.withFeed { feed async throws in
                #expect(try await feed.sync().inDoubtCount == 2)
                #expect(
                    try await feed.outbox().map(\.state) == [
                        .inDoubt(.otherAccount), .inDoubt(.otherPosts),
                    ]
                )
            }
            #expect(try await device.authors().isEmpty)
        }
    }

    @Test func anAccountThatIsNotAsItWasWrittenIsNoticed() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/offline.db"
        for change in ["0 WHERE user <> 0", "7 WHERE user = 0"] {
            let sessions = FileSessionStore(path: folder.path + "/session")
            let token = try #require(Secret(bytes: [UInt8](repeating: 1, count: 32)))
            sessions.save(StoredSession(token: token, userID: 5))
            var configuration = OfflineConfiguration(path: path, address: "127.0.0.1:1")
            configuration.client.sessionStore = sessions
            let feed = try await OfflineFeed.open(configuration)
            try await feed.vote(on: 1, .up)
            sessions.remove()
            try await feed.vote(on: 1, .up)
            await feed.close()
            try Database(path: path).execute("UPDATE outbox SET user = \(change)")
            let again = try await OfflineFeed.open(configuration)
            #expect(again.notice != nil, "\(change)")
            await again.close()
        }
    }

    @Test func theCopyHasTheMarksOfTheOneWhoHasSignedIn() async throws {
        try await Device.run { device in
            let id = try await device.service.withClient {
                try await $0.createPost(PostDraft(title: "seed")).id
            }
            func isRead() async throws -> Bool {
                try await device.withFeed { feed async throws in
                    try await feed.sync()
                    return try await feed.post(id)?.viewer?.isRead ?? false
                }
            }
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                try await feed.mark([id], as: .read)
                try await feed.sync()
            }
            #expect(try await isRead())
            try await device.signIn("bob")
            #expect(try await !isRead())
            try await device.signIn("ann")
            #expect(try await isRead())
            try await device.signOut()
            #expect(try await !isRead())
        }
    }

    @Test func theChangesOfAnOldFileComeIntoDoubt() async throws {
        try await Device.run { device in
            let number = try await device.withFeed { feed async throws in
                try await feed.createPost(PostDraft(title: "old")).number
            }
            // The file as an earlier version has left it.
            try Database(path: device.service.path("offline.db")).execute(
                """
                ALTER TABLE outbox DROP COLUMN user;
                ALTER TABLE identity DROP COLUMN viewer;
                ALTER TABLE identity DROP COLUMN shown_user;
                PRAGMA user_version = 1
                """
            )
            let ann = try await device.signIn("ann")
            for _ in 0..<2 {
                try await device.withFeed { feed async throws in
                    #expect(feed.notice == nil)
                    #expect(try await feed.outbox().map(\.state) == [.inDoubt(.unknownUser)])
                    #expect(try await feed.sync().inDoubtCount == 1)
                }
            }
            #expect(try await device.authors().isEmpty)
            try await device.withFeed { feed async throws in
                try await feed.resend(number)
                #expect(try await feed.sync().sentCount == 1)
            }
            #expect(try await device.authors() == ["old": ann])
        }
    }
}
