import FeedClient
import FeedOffline
import FeedProto
import Foundation
import Observation

/// The data side of RGReddit: a top feed that scrolls without end, and comes back to its place.
@MainActor @Observable
final class RGRedditData {
    /// The pages from the first one that was read to the last one, each with the token it was read by.
    private var pages: [(token: PageToken?, page: Page)] = []
    /// The row that was at the top of the screen when the app ended.
    private(set) var topRow = 0
    /// What to tell the person; the screen sets it back to nil.
    var message: String?

    private let client: any FeedCalling
    private let placeFile: URL
    private let list = PostList(feed: "posts", order: .top, consistency: .stable)
    private let pageSize = 25

    /// The list over a client, with the place of the last launch in a file.
    init(_ client: any FeedCalling, placeFile: URL) {
        self.client = client
        self.placeFile = placeFile
    }

    var rows: [Post] { pages.flatMap(\.page.posts) }
    /// The place of the first row in the whole list, from 1.
    var firstRank: UInt64 { pages.first?.page.firstRank ?? 1 }
    var isAtEnd: Bool { pages.last.map { $0.page.next == nil } ?? false }
    var isAtStart: Bool { pages.first.map { $0.page.previous == nil } ?? false }

    /// Shows the rows that were on the screen when the app ended, or the first ones.
    func open() async {
        await attempt {
            if let data = try? Data(contentsOf: placeFile),
                let place = try? JSONDecoder().decode(ListPosition.self, from: data)
            {
                let restored = try await place.restore(over: client)
                pages = [(token: restored.start.token, page: restored.page)]
                topRow = restored.row
            } else {
                let page = try await client.listPosts(list, pageSize: pageSize)
                pages = [(token: nil, page: page)]
            }
        }
    }

    /// Reads the rows below the last one; a page that failed is read at the next call.
    func scrollDown() async {
        await attempt {
            guard let last = pages.last, let page = try await client.next(after: last.page)
            else { return }
            pages.append((token: last.page.next, page: page))
        }
    }

    /// Reads the rows above the first one.
    func scrollUp() async {
        await attempt {
            guard let first = pages.first, let page = try await client.previous(before: first.page)
            else { return }
            pages.insert((token: first.page.previous, page: page), at: 0)
        }
    }

    /// Keeps the place: the post at the top of the screen.
    func leave(at post: Post) {
        guard let shown = pages.first(where: { $0.page.posts.contains { $0.id == post.id } })
        else { return }
        let place = ListPosition(
            list,
            page: shown.token,
            pageSize: pageSize,
            firstVisible: post.id
        )
        try? JSONEncoder().encode(place).write(to: placeFile, options: .atomic)
    }

    private func attempt(_ action: () async throws -> Void) async {
        do {
            try await action()
        } catch {
            if !Task.isCancelled { message = error.localizedDescription }
        }
    }
}

extension PageStart {
    fileprivate var token: PageToken? { if case .token(let token) = self { token } else { nil } }
}
