public import FeedClient
public import FeedProto

/// A place in a list that a program stores, to show the same rows after it was ended and started again.
///
/// It has the token of the page that was shown, and the first row that was visible. The token restores the
/// page as it was, as long as the service has its snapshot; else the page around the row is the place.
///
/// ```swift
/// let stored = try JSONEncoder().encode(ListPosition(list, page: token, pageSize: 25, firstVisible: 300))
/// let place = try await JSONDecoder().decode(ListPosition.self, from: stored).restore(over: client)
/// ```
public struct ListPosition: Sendable, Hashable {
    /// The list.
    public var list: PostList
    /// The token that the page was read with; nil is the first page.
    public var page: PageToken?
    /// How many posts its pages have; 0 is the service's default.
    public var pageSize: Int
    /// The post of the first row that was visible; 0 is none.
    public var firstVisiblePostID: PostID
    /// How much of that row was above the edge of the window, in a unit of the program's own.
    public var offset: Double

    /// A position.
    public init(
        _ list: PostList,
        page: PageToken?,
        pageSize: Int = 0,
        firstVisible postID: PostID,
        offset: Double = 0
    ) {
        self.list = list
        self.page = page
        self.pageSize = pageSize
        firstVisiblePostID = postID
        self.offset = offset
    }
}

/// A position that was restored.
public struct RestoredPosition: Sendable, Equatable {
    /// The page that has the row.
    public var page: Page
    /// The place of the first visible row in the page.
    public var row: Int
    /// Whether the row is the post that was visible; else that post is gone, or in no list any more.
    public var isExact: Bool
    /// How the page was found, to read it again.
    public var start: PageStart
}

extension ListPosition {
    /// Reads the page of the position.
    ///
    /// Where the page of the token has the post no more, as its snapshot is gone and the post has moved, the
    /// page around the post is read; where the post is gone, the page of the token stands.
    ///
    /// - Returns: The page and the row.
    /// - Throws: A `FeedClientError`, as `PAGE_TOKEN_MISMATCH` for another viewer.
    public func restore(
        over client: any FeedCalling
    ) async throws(FeedClientError) -> RestoredPosition {
        let start = page.map(PageStart.token) ?? .first
        let stored = try await client.listPosts(list, pageSize: pageSize, from: start)
        if let row = row(in: stored) {
            return RestoredPosition(page: stored, row: row, isExact: true, start: start)
        }
        let fallback = RestoredPosition(page: stored, row: 0, isExact: false, start: start)
        guard firstVisiblePostID != 0 else { return fallback }
        let around = PageStart.around(firstVisiblePostID)
        do throws(FeedClientError) {
            let page = try await client.listPosts(list, pageSize: pageSize, from: around)
            guard let row = row(in: page) else { return fallback }
            return RestoredPosition(page: page, row: row, isExact: true, start: around)
        } catch {
            guard case .refused(let status) = error, status.reason == .postNotFound else {
                throw error
            }
            return fallback
        }
    }

    private func row(in page: Page) -> Int? {
        page.posts.firstIndex { $0.id == firstVisiblePostID }
    }
}

/// The stored form, whose `version` says how to read it.
extension ListPosition: Codable {
    private static var version: Int { 1 }

    private enum Key: String, CodingKey {
        case version, feed, order, window, author, unreadOnly, includesDismissed, consistency
        case page, pageSize, firstVisible, offset
    }

    /// Reads a stored position.
    ///
    /// - Throws: A `DecodingError` for another version too: begin at the first page then.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version,
                in: values,
                debugDescription: "Version \(version) of a position, not \(Self.version)."
            )
        }
        let list = PostList(
            feed: try values.decode(String.self, forKey: .feed),
            order: Order(rawValue: try values.decode(Int32.self, forKey: .order)),
            window: Window(rawValue: try values.decode(Int32.self, forKey: .window)),
            authorID: try values.decode(UserID.self, forKey: .author),
            unreadOnly: try values.decode(Bool.self, forKey: .unreadOnly),
            includesDismissed: try values.decode(Bool.self, forKey: .includesDismissed),
            consistency: Consistency(
                rawValue: try values.decode(Int32.self, forKey: .consistency)
            )
        )
        self.init(
            list,
            page: PageToken(bytes: try values.decode([UInt8].self, forKey: .page)),
            pageSize: try values.decode(Int.self, forKey: .pageSize),
            firstVisible: try values.decode(PostID.self, forKey: .firstVisible),
            offset: try values.decode(Double.self, forKey: .offset)
        )
    }

    /// Writes the position.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(list.feed, forKey: .feed)
        try values.encode(list.order.rawValue, forKey: .order)
        try values.encode(list.window.rawValue, forKey: .window)
        try values.encode(list.authorID, forKey: .author)
        try values.encode(list.unreadOnly, forKey: .unreadOnly)
        try values.encode(list.includesDismissed, forKey: .includesDismissed)
        try values.encode(list.consistency.rawValue, forKey: .consistency)
        try values.encode(page?.bytes ?? [], forKey: .page)
        try values.encode(pageSize, forKey: .pageSize)
        try values.encode(firstVisiblePostID, forKey: .firstVisible)
        try values.encode(offset, forKey: .offset)
    }
}
