import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The example of docs/CLIENT.md is code that runs.
@Suite(.timeLimit(.minutes(1)))
struct DocumentTests {
    // swift-format-ignore
    static func tour(_ client: FeedClient) async throws {
        let post = try await client.createPost(Post(title: "Apple"))
        let counts = try await client.vote(on: post.id, .up)
        print(counts.score)
        for try await post in client.posts(in: "posts", order: .top) { print(post.score, post.title) }
        await client.close()
    }

    @Test func theExampleRuns() async throws {
        try await withClient { client in try await Self.tour(client) }
    }

    @Test func theDocumentHasTheExample() throws {
        let page = try Self.lines(Programs.projectFolder.appending(path: "docs/CLIENT.md"))
        let source = try Self.lines(URL(filePath: #filePath))
        let body = source.drop { !$0.contains("func tour") }.dropFirst().prefix { $0 != "}" }
        #expect(body.count == 5)
        for line in body { #expect(page.contains(line)) }
    }

    private static func lines(_ file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
