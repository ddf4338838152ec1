import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The authors of posts, and who may change them.
@Suite(.timeLimit(.minutes(10)))
struct AuthorTests {
    /// Runs a service that callers of another address than loopback reach: they are no services.
    private func withRemoteCallers(
        _ body: @escaping @Sendable (_ port: UInt16, _ host: UInt32) throws -> Void
    ) async throws {
        let own = try #require(TestSocket.ownAddress)
        try await withAccounts {
            $0.addresses = [SocketAddress(host: .v4(0), port: 0)]
        } _: { port in
            try body(port, own)
        }
    }

    private func create(_ client: WireClient, _ author: User? = nil) throws -> Post {
        let request = CreatePostRequest(post: Post(author: author, title: "a title"))
        let answer = try client.call(.createPost(request))
        guard case .post(let post) = answer.response else {
            throw answer.status ?? Status(code: .unknown, reason: .internal, message: "No post.")
        }
        return post
    }

    private func update(_ id: UInt64) -> Request {
        let post = Post(id: id, title: "another title")
        return .updatePost(UpdatePostRequest(post: post, updateMask: [.title]))
    }

    @Test func aUserIsTheAuthor() async throws {
        try await withRemoteCallers { port, host in
            let client = try WireClient(port: port, host: host)
            let user = try client.signUp("ann@x", name: "Ann").session.user
            // A name in the request does not make another author.
            let post = try create(client, User(id: 5, displayName: "Bob"))
            #expect(post.author?.id == user?.id)
            #expect(post.author?.displayName == "Ann")
            let reader = try WireClient(port: port, host: host)
            let read = try reader.call(.getPost(GetPostRequest(id: post.id)))
            guard case .post(let seen) = read.response else {
                Issue.record("GetPost answers with the post.")
                return
            }
            #expect(seen.author == post.author)
            #expect(try reader.list(ListPostsRequest()).posts.first?.author == post.author)
        }
    }

    @Test func aNameWithoutAUserIsOnlyAName() async throws {
        try await withRemoteCallers { port, host in
            let client = try WireClient(port: port, host: host)
            let post = try create(client, User(id: 5, displayName: "Bob"))
            #expect(post.author?.id == 0)
            #expect(post.author?.displayName == "Bob")
        }
    }

    @Test("T-AUTH-4: only the author or a service changes a post")
    func othersMayNotChangeAPost() async throws {
        try await withRemoteCallers { port, host in
            let ann = try WireClient(port: port, host: host)
            let bob = try WireClient(port: port, host: host)
            #expect(try ann.signUp("ann@x").status == nil)
            #expect(try bob.signUp("bob@x").status == nil)
            let id = try create(ann).id
            let anonymous = try create(try WireClient(port: port, host: host)).id
            for request in [
                update(id), .deletePost(DeletePostRequest(id: id)), update(anonymous),
                .deletePost(DeletePostRequest(id: anonymous)),
            ] {
                let status = try bob.call(request).status
                #expect(status?.code == .permissionDenied)
                #expect(status?.reason == .notAuthor)
                #expect(status?.isNotExecuted == true)
            }
            #expect(try bob.refusal(update(id + 100)) == .postNotFound)
            #expect(try ann.refusal(update(id)) == nil)
            // A loopback caller is a service.
            let service = try WireClient(port: port)
            #expect(try service.refusal(update(id)) == nil)
            #expect(try service.refusal(.deletePost(DeletePostRequest(id: anonymous))) == nil)
            #expect(try ann.refusal(.deletePost(DeletePostRequest(id: id))) == nil)
            #expect(try ann.refusal(.deletePost(DeletePostRequest(id: id))) == nil)
        }
    }
}
