import FeedClient
import FeedProto
import Testing

/// The Twitter client: one form that signs in or up, tweets, newer tweets.
@Suite(.timeLimit(.minutes(10))) struct TwitterClientTests {
    private static let email = "ann@example.org"
    private static let password = "correct horse"

    @Test func oneFormSignsUpOrIn() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let created = try await app.signIn(
                email: Self.email,
                password: Self.password,
                createsIfMissing: true
            )
            #expect(created.createdUser)
            let known = try await app.signIn(
                email: Self.email,
                password: Self.password,
                createsIfMissing: true
            )
            #expect(!known.createdUser)
            #expect(known.user?.id == created.user?.id)
            // A wrong password is never a second account.
            await expectRefusal(.badCredentials) { () throws(FeedClientError) in
                try await app.signIn(
                    email: Self.email,
                    password: "wrong horse",
                    createsIfMissing: true
                )
            }
            let short = await expectRefusal(.passwordTooShort) { () throws(FeedClientError) in
                try await app.signUp(email: "bob@example.org", password: "12345")
            }
            #expect(short?.violations.first?.limit == 6)
            await expectRefusal(.badEmail) { () throws(FeedClientError) in
                try await app.signUp(email: "bob", password: "123456")
            }
            await app.close()
        }
    }

    @Test func aPersonStaysSignedInUntilTheySignOut() async throws {
        try await AppService.run { service in
            let first = try await service.launch()
            let session = try await first.signUp(
                email: Self.email,
                password: Self.password,
                displayName: "Ann"
            )
            let token = try #require(session.secret)
            await first.close()
            await service.kill()
            try await service.start()
            // The app is launched again, with the token that it kept.
            let second = try await service.launch { $0.sessionToken = token }
            #expect(try await second.session().user?.displayName == "Ann")
            try await second.signOut()
            await expectRefusal(.identityRequired) { () throws(FeedClientError) in
                try await second.session()
            }
            await second.close()
            let third = try await service.launch()
            await expectRefusal(.identityRequired) { () throws(FeedClientError) in
                try await third.session()
            }
            await third.close()
        }
    }

    @Test func aTweetHas1To140CharactersAndComesFirst() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let session = try await app.signUp(
                email: Self.email,
                password: Self.password,
                displayName: "Ann"
            )
            for text in ["first", String(repeating: "ü", count: 140), "last"] {
                let tweet = try await app.createPost(PostDraft(text: text), in: "tweets")
                #expect(tweet.author?.id == session.user?.id)
                #expect(tweet.author?.displayName == "Ann")
                let page = try await app.listPosts(in: "tweets", order: .new)
                #expect(page.posts.first?.id == tweet.id)
            }
            await expectRefusal(.textEmpty) { () throws(FeedClientError) in
                try await app.createPost(PostDraft(text: ""), in: "tweets")
            }
            let long = await expectRefusal(.textTooLong) { () throws(FeedClientError) in
                try await app.createPost(
                    PostDraft(text: String(repeating: "x", count: 141)),
                    in: "tweets"
                )
            }
            #expect(long?.violations.first?.limit == 140)
            #expect(long?.violations.first?.actual == 141)
            await app.close()
        }
    }

    @Test func newerTweetsAreFetchedWithoutAGap() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            var ids: [UInt64] = []
            for number in 0..<5 {
                ids.append(try await app.createPost(PostDraft(text: "t\(number)"), in: "tweets").id)
            }
            let shown = try await app.listPosts(in: "tweets", order: .new)
            #expect(shown.posts.map(\.id) == ids.reversed())
            for number in 5..<60 {
                ids.append(try await app.createPost(PostDraft(text: "t\(number)"), in: "tweets").id)
            }
            // The token that came with the list, page by page.
            var newer: [UInt64] = []
            var start = try #require(shown.refresh)
            while true {
                let page = try await app.listPosts(in: "tweets", order: .new, from: .token(start))
                newer += page.posts.map(\.id).filter { !newer.contains($0) }
                guard !page.posts.isEmpty, let next = page.refresh, next != start else { break }
                start = next
            }
            #expect(Set(newer).isSuperset(of: ids.suffix(55)))
            // Or what is newer than the newest that is shown.
            let newest = try #require(shown.posts.first)
            let page = try await app.listPosts(
                in: "tweets",
                order: .new,
                pageSize: 100,
                from: .newerThan(newest.id)
            )
            #expect(Set(page.posts.map(\.id)).isSuperset(of: ids.suffix(55)))
            await app.close()
        }
    }
}
