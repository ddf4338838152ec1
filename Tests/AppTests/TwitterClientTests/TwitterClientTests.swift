import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// The Twitter client: one form that signs in or up, tweets, newer tweets.
@MainActor @Suite(.timeLimit(.minutes(10))) struct TwitterClientTests {
    private static let email = "ann@example.org"
    private static let password = "correct horse"

    /// The app on a phone, which is a folder.
    private static func launch(
        on phone: TemporaryDirectory,
        _ service: AppService
    ) throws -> TwitterData {
        try TwitterData(
            to: service.address,
            sessionPath: phone.path + "/session",
            configuration: .patient
        )
    }

    @Test func oneFormSignsUpOrIn() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let app = try Self.launch(on: phone, service)
            try await onScreen(app.follow) {
                await app.signIn(email: Self.email, password: Self.password)
                try await shown { app.user != nil }
                let created = try #require(app.user)
                await app.signOut()
                try await shown { app.user == nil }
                await app.signIn(email: Self.email, password: Self.password)
                try await shown { app.user != nil }
                #expect(app.user?.id == created.id)
                #expect(app.message == nil)
                // A wrong password is never a second account.
                await app.signIn(email: Self.email, password: "wrong horse")
                #expect(app.message == "The password is wrong, or the e-mail address.")
                await app.signIn(email: "bob@example.org", password: "12345")
                #expect(app.message == "The password is too short.")
                await app.signIn(email: "bob", password: "123456")
                #expect(app.message == "This is not an e-mail address.")
                #expect(app.user?.id == created.id)
            }
            let client = try await service.launch()
            let short = await expectRefusal(.passwordTooShort) { () throws(FeedClientError) in
                try await client.signUp(email: "bob@example.org", password: "12345")
            }
            #expect(short?.violations.first?.limit == 6)
            let known = try await client.signIn(
                email: Self.email,
                password: Self.password,
                createsIfMissing: true
            )
            #expect(!known.createdUser)
            await client.close()
        }
    }

    @Test func aPersonStaysSignedInUntilTheySignOut() async throws {
        try await AppService.run { service in
            let web = try await service.launch()
            let session = try await web.signUp(
                email: Self.email,
                password: Self.password,
                displayName: "Ann"
            )
            await web.close()
            let phone = try TemporaryDirectory()
            let first = try Self.launch(on: phone, service)
            await first.signIn(email: Self.email, password: Self.password)
            #expect(first.message == nil)
            await service.kill()
            // The app is launched again, and knows whose it is before there is a service.
            let second = try Self.launch(on: phone, service)
            #expect(second.user?.id == session.user?.id)
            try await service.start()
            try await onScreen(second.follow) {
                try await shown { second.user?.displayName == "Ann" }
                await second.signOut()
                try await shown { second.user == nil }
            }
            let third = try Self.launch(on: phone, service)
            #expect(third.user == nil)
            let store = FileSessionStore(path: phone.path + "/session")
            let nobody = try await service.launch { $0.sessionStore = store }
            await expectRefusal(.identityRequired) { () throws(FeedClientError) in
                try await nobody.session()
            }
            await nobody.close()
        }
    }

    @Test func aTweetHas1To140CharactersAndComesFirst() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let app = try Self.launch(on: phone, service)
            await app.signIn(email: Self.email, password: Self.password)
            try await onScreen(app.follow) {
                try await shown { app.user?.displayName == "ann" }
                for text in ["first", String(repeating: "ü", count: 140), "last"] {
                    app.draft.text = text
                    await app.send()
                    try await shown { app.tweets.first?.text == text }
                    #expect(app.draft.text == "")
                    #expect(app.tweets.first?.author?.id == app.user?.id)
                    #expect(app.tweets.first?.author?.displayName == "ann")
                }
                #expect(app.message == nil)
                await app.send()
                #expect(app.message == "The text is too short.")
                // What was written stays.
                app.draft.text = String(repeating: "x", count: 141)
                await app.send()
                #expect(app.message == "The text is too long.")
                #expect(app.draft.text.count == 141)
            }
            let client = try await service.launch()
            let long = await expectRefusal(.textTooLong) { () throws(FeedClientError) in
                try await client.createPost(app.draft, in: "tweets")
            }
            #expect(long?.violations.first?.limit == 140)
            #expect(long?.violations.first?.actual == 141)
            await client.close()
        }
    }

    @Test func newerTweetsAreFetchedWithoutAGap() async throws {
        try await AppService.run { service in
            let others = try await service.launch()
            var ids: [PostID] = []
            for number in 0..<5 {
                let draft = PostDraft(text: "t\(number)")
                ids.append(try await others.createPost(draft, in: "tweets").id)
            }
            let phone = try TemporaryDirectory()
            let app = try Self.launch(on: phone, service)
            await app.refresh()
            #expect(app.tweets.map(\.id) == ids.reversed())
            for number in 5..<60 {
                let draft = PostDraft(text: "t\(number)")
                ids.append(try await others.createPost(draft, in: "tweets").id)
            }
            // The token that came with the list, page by page.
            await app.refresh()
            #expect(app.message == nil)
            #expect(app.tweets.map(\.id) == ids.reversed())
            // Or what is newer than a tweet.
            let page = try await others.listPosts(
                in: "tweets",
                order: .new,
                pageSize: 100,
                from: .newerThan(ids[4])
            )
            #expect(Set(page.posts.map(\.id)).isSuperset(of: ids.suffix(55)))
            await others.close()
        }
    }
}
