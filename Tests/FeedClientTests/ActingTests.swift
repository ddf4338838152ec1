import FeedClient
import FeedProto
import Testing

/// What the calls of a service say of users, marks and lists.
@Suite(.timeLimit(.minutes(10)))
struct ActingTests {
    /// A user of a service's own.
    private static let user: UInt64 = 1 << 63 | 7

    /// The calls of a body, as a service gets them; it answers none of them.
    private static func calls(
        _ body: @escaping @Sendable (FeedClient) async -> Void
    ) async throws -> [ClientFrame] {
        var frames: [ClientFrame] = []
        let script: ScriptedService.Script = { [.answer(refusal($0))] }
        try await withScript(script) { client, service in
            await body(client)
            await client.close()
            for await frame in service.received { frames.append(frame) }
        }
        return frames.filter { if case .hello = $0.request { false } else { true } }
    }

    private static func refusal(_ frame: ClientFrame) -> ServerFrame {
        let status = Status(code: .unimplemented, reason: .unknownMethod, message: "no")
        return ServerFrame(id: frame.id, revision: 1, status: status)
    }

    @Test func eachCallNamesTheUserThatItActsFor() async throws {
        let frames = try await Self.calls { client in
            let ada = client.acting(for: Self.user)
            _ = try? await ada.vote(on: 1, .up)
            _ = try? await client.vote(on: 1, .up)
            _ = try? await ada.mark([3], as: .read)
            _ = await ada.createPosts([Post(title: "a")], in: "posts")
        }
        #expect(frames.map(\.actingUserID) == [Self.user, 0, Self.user, Self.user])
    }

    @Test func marksNamePostsOrTheLastOfThem() async throws {
        let frames = try await Self.calls { client in
            _ = try? await client.mark([3, 4], as: .read, in: "posts")
            _ = try? await client.mark(through: 9, as: .dismissed)
        }
        let expected: [Request?] = [
            .markPosts(MarkPostsRequest(feed: "posts", mark: .read, postIDs: [3, 4])),
            .markPosts(MarkPostsRequest(mark: .dismissed, throughPostID: 9)),
        ]
        #expect(frames.map(\.request) == expected)
    }

    @Test func aListSaysAllThatItIs() async throws {
        let list = PostList(
            feed: "posts",
            order: .controversial,
            window: .week,
            authorID: 5,
            unreadOnly: true,
            includesDismissed: true,
            consistency: .stable
        )
        let frames = try await Self.calls { client in
            _ = try? await client.listPosts(list, pageSize: 7, from: .newerThan(11))
            _ = try? await client.rank(of: 3, order: .top, window: .day)
        }
        let expected: [Request?] = [
            .listPosts(
                ListPostsRequest(
                    feed: "posts",
                    order: .controversial,
                    window: .week,
                    pageSize: 7,
                    start: .newerThanPostID(11),
                    authorID: 5,
                    unreadOnly: true,
                    includesDismissed: true,
                    consistency: .stable
                )
            ),
            .getPostRank(GetPostRankRequest(id: 3, order: .top, window: .day)),
        ]
        #expect(frames.map(\.request) == expected)
    }

    @Test func aPageSaysWhatWasServedAndWhereToRefresh() async throws {
        let script: ScriptedService.Script = { frame in
            let page = ListPostsResponse(
                posts: [Post(id: 7)],
                refreshToken: [1, 2],
                newerCount: 3,
                consistency: .live
            )
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: .listPosts(page)))]
        }
        try await withScript(script) { client, _ in
            let page = try await client.listPosts(PostList(consistency: .stable))
            #expect(page.refresh == PageToken(bytes: [1, 2]))
            #expect(page.newerCount == 3)
            #expect(page.consistency == .live)
        }
    }

    @Test func signingInAndOutAreCallsOfTheirOwn() async throws {
        let frames = try await Self.calls { client in
            _ = try? await client.signUp(email: "a@b", password: "secret", displayName: "Ada")
            _ = try? await client.signIn(email: "a@b", password: "secret", createsIfMissing: true)
            _ = try? await client.session()
            try? await client.signOut(everywhere: true)
        }
        let expected: [Request?] = [
            .signUp(SignUpRequest(email: "a@b", password: "secret", displayName: "Ada")),
            .signIn(SignInRequest(email: "a@b", password: "secret", createsIfMissing: true)),
            .getSession,
            .signOut(SignOutRequest(endsEverywhere: true)),
        ]
        #expect(frames.map(\.request) == expected)
    }
}
