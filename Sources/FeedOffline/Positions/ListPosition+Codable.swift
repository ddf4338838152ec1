import FeedClient
import FeedProto

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
            authorID: try values.decode(UInt64.self, forKey: .author),
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
            firstVisible: try values.decode(UInt64.self, forKey: .firstVisible),
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
