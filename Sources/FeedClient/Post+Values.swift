public import FeedProto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Post: Codable {
    /// Reads a post that ``encode(to:)`` has written, by this version of the library or an earlier one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = try Post(bytes: Array(container.decode(Data.self)))
        } catch let error as MessageError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Writes all fields as one value: the bytes of the protocol's message, which later versions read too.
    ///
    /// JSON has them as a text in Base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes))
    }
}

extension Post {
    /// When it was created, to the millisecond: by the service's clock, or as it was imported.
    public var createTime: Date { Date(milliseconds: createTimeMilliseconds) }

    /// When it was last edited, to the millisecond; votes do not count.
    public var updateTime: Date { Date(milliseconds: updateTimeMilliseconds) }
}

extension User {
    /// When the account was created; nil of an author of a post.
    public var createTime: Date? {
        createTimeMilliseconds == 0 ? nil : Date(milliseconds: createTimeMilliseconds)
    }
}

extension Date {
    fileprivate init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}

extension PostDraft: Codable {
    /// Reads a draft that ``encode(to:)`` has written.
    public init(from decoder: any Decoder) throws { self.init(try Post(from: decoder)) }

    /// Writes the draft as a post of the same fields.
    public func encode(to encoder: any Encoder) throws { try post().encode(to: encoder) }
}
