import FeedProto

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Creates a post, votes on it, finds it in a page, and deletes it: `EmbeddedClient HOST:PORT`.
@main
struct EmbeddedClient {
    static func main() async {
        do {
            let (host, port) = try address(CommandLine.arguments.dropFirst())
            try await FeedConnection.with(host: host, port: port) { connection in
                try await tour(&connection)
            }
        } catch {
            print("Failed: \(error)")
            exit(1)
        }
    }

    private static func tour(_ connection: inout FeedConnection) async throws {
        let hello = try await connection.call(.hello(HelloRequest(clientName: "EmbeddedClient")))
        guard case .hello(let service) = hello else { throw unexpected(hello, "Hello") }
        print("Connected to \(service.serverName), protocol \(service.protocolVersion).")

        let title = "Hello from an embedded client"
        let author = User(displayName: "Ada")
        let request = CreatePostRequest(feed: "posts", post: Post(author: author, title: title))
        let created = try await connection.call(.createPost(request))
        guard case .post(let post) = created, post.title == title, post.score == 0 else {
            throw unexpected(created, "CreatePost")
        }
        print("Created post \(post.id): \(post.title)")

        for expected in 1...3 as ClosedRange<Int64> {
            let vote = CastVoteRequest(postID: post.id, direction: .up)
            let voted = try await connection.call(.castVote(vote))
            guard case .castVote(let counts) = voted, counts.score == expected else {
                throw unexpected(voted, "CastVote")
            }
            print("Voted; the score is \(counts.score).")
        }

        let around = ListPostsRequest.Start.aroundPostID(post.id)
        let list = ListPostsRequest(feed: "posts", order: .top, start: around)
        let listed = try await connection.call(.listPosts(list))
        guard
            case .listPosts(let page) = listed,
            page.posts.contains(where: { $0.id == post.id && $0.score == 3 })
        else {
            throw unexpected(listed, "ListPosts")
        }
        // A page tells ranks only where no filter and no mark leaves posts out of it.
        let ranked = try await connection.call(
            .getPostRank(GetPostRankRequest(id: post.id, order: .top))
        )
        guard case .postRank(let place) = ranked else { throw unexpected(ranked, "GetPostRank") }
        print("It has rank \(place.rank) of \(place.totalSize) in TOP order.")

        let deleted = try await connection.call(.deletePost(DeletePostRequest(id: post.id)))
        guard case .empty = deleted else { throw unexpected(deleted, "DeletePost") }
        print("Deleted post \(post.id).")
    }

    private static func address(_ arguments: ArraySlice<String>) throws -> (String, Int) {
        let parts = arguments.first?.split(separator: ":") ?? []
        guard arguments.count == 1, parts.count == 2, let port = Int(parts[1]) else {
            throw Unexpected(what: "Usage: EmbeddedClient HOST:PORT")
        }
        return (String(parts[0]), port)
    }

    private static func unexpected(_ answer: Response, _ call: String) -> Unexpected {
        Unexpected(what: "\(call) was answered with \(answer).")
    }
}
