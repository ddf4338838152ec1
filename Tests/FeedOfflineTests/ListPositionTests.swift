import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// A place in a list that is stored and comes back.
@Suite(.timeLimit(.minutes(10)))
struct ListPositionTests {
    private static let list = PostList(feed: "posts", order: .top, consistency: .stable)

    @Test func aStoredPositionIsReadAgainAndAnotherVersionIsRefused() throws {
        let list = PostList(
            feed: "tweets",
            order: .discussed,
            window: .week,
            authorID: 12,
            unreadOnly: true,
            includesDismissed: true,
            consistency: .stable
        )
        let position = ListPosition(
            list,
            page: PageToken(bytes: [1, 2, 3]),
            pageSize: 25,
            firstVisible: 300,
            offset: 0.25
        )
        let stored = try JSONEncoder().encode(position)
        #expect(try JSONDecoder().decode(ListPosition.self, from: stored) == position)
        let first = ListPosition(PostList(), page: nil, firstVisible: 0)
        let storedFirst = try JSONEncoder().encode(first)
        #expect(try JSONDecoder().decode(ListPosition.self, from: storedFirst) == first)
        let text = String(decoding: stored, as: UTF8.self)
        let later = text.replacing("\"version\":1", with: "\"version\":2")
        #expect(later != text)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ListPosition.self, from: Data(later.utf8))
        }
    }

    @Test func thePlaceComesBackAfterRestarts() async throws {
        try await TestService.run { service in
            let (ids, stored) = try await service.withClient { client async throws in
                let ids = try await client.importPosts(
                    (0..<100).map { Post(title: "post", upvoteCount: UInt64(1_000 - $0)) },
                    in: "posts"
                )
                let first = try await client.listPosts(Self.list, pageSize: 20)
                let position = ListPosition(
                    Self.list,
                    page: first.next,
                    pageSize: 20,
                    firstVisible: ids[27]
                )
                return (ids, try JSONEncoder().encode(position))
            }
            await service.end()
            try await service.start()
            let position = try JSONDecoder().decode(ListPosition.self, from: stored)
            try await service.withClient { client async throws in
                let same = try await position.restore(over: client)
                #expect(same.isExact)
                #expect(same.row == 7)
                #expect(same.page.posts.map(\.id) == Array(ids[20..<40]))
                // The post has moved to the top: it is found there.
                _ = try await client.votes(
                    (0..<200).map { _ in .init(postID: ids[27], direction: .up) }
                )
                let moved = try await position.restore(over: client)
                #expect(moved.isExact)
                #expect(moved.start == .around(ids[27]))
                #expect(moved.page.posts[moved.row].id == ids[27])
                // It is gone: the page stands.
                try await client.deletePost(ids[27])
                let gone = try await position.restore(over: client)
                #expect(!gone.isExact)
                #expect(gone.page.posts.first?.id == ids[20])
                // Nothing was visible: the first page.
                let none = ListPosition(Self.list, page: nil, pageSize: 20, firstVisible: 0)
                let top = try await none.restore(over: client)
                #expect(!top.isExact)
                #expect(top.start == .first)
                #expect(top.page.posts.map(\.id) == Array(ids[..<20]))
                // An error that does not say that the post is gone is the caller's.
                await #expect(throws: FeedClientError.closed) {
                    try await position.restore(over: ClosingClient(client: client))
                }
            }
        }
    }

    /// A client that is closed once a page around a post is read.
    private struct ClosingClient: FeedCalling {
        let client: FeedClient
        var service: HelloResponse { client.service }

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            if case .listPosts(let list) = request, case .aroundPostID = list.start {
                throw .closed
            }
            return try await client.answer(
                to: request,
                minimumRevision: minimumRevision,
                timeout: timeout
            )
        }

        func acting(for userID: UInt64) -> ClosingClient { self }

        func close() async {}
    }
}
