public import FeedClient
public import FeedProto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why an offline feed could not do what it was asked for.
public enum OfflineError: Error, Sendable, Equatable {
    /// The file was damaged. It was moved aside and begun anew; the reason says what was found.
    case damaged(reason: String)
    /// Posts of the copy could not be read. They were dropped, and the next sync brings them; the outbox
    /// is as it was.
    case damagedPosts
    /// Another process, or another ``OfflineFeed`` of this one, has the file.
    case inUse(path: String)
    /// The file belongs to another client id than the program gave.
    case otherClient(path: String)
    /// The system could not read, write or sync the file.
    case file(reason: String)
    /// The feed was closed.
    case closed
    /// The copy has no such post.
    case unknownPost(PostID)
    /// The outbox has no such entry, or its state does not allow it.
    case unknownEntry(UInt64)
    /// The outbox has as many entries as it takes.
    case outboxFull(limit: Int)
    /// The service would refuse the change for certain, by what it said last of its limits and of the feed.
    case refused(Status)
    /// The request does not fit into a frame.
    case tooLarge(byteCount: UInt64, limitByteCount: Int)
    /// The order cannot be computed from posts: RISING.
    case unsupportedOrder(Order)
    /// The service gives no sequences, so nothing of the outbox was sent.
    case noSequences
    /// A call of the service failed. What was done before stays.
    case service(FeedClientError)
}

extension OfflineError: CustomStringConvertible {
    /// What happened, as a sentence.
    public var description: String {
        switch self {
        case .damaged(let reason): "The file was damaged, and is begun anew: \(reason)"
        case .damagedPosts:
            "Posts of the copy were damaged and are dropped; the next sync brings them again."
        case .inUse(let path): "Another program has \(path)."
        case .otherClient(let path): "\(path) belongs to another client id."
        case .file(let reason): reason
        case .closed: "The offline feed is closed."
        case .unknownPost(let id): "The copy has no post \(id)."
        case .unknownEntry(let number): "The outbox has no entry \(number) to do this with."
        case .outboxFull(let limit): "The outbox has \(limit) entries, its limit."
        case .refused(let status): status.description
        case .tooLarge(let byteCount, let limit):
            "The change has \(byteCount) bytes, more than the limit of \(limit)."
        case .unsupportedOrder(let order): "The order \(order) cannot be computed from a copy."
        case .noSequences:
            "The service gives no sequences, so the changes would not be counted exactly once."
        case .service(let error): error.description
        }
    }
}

/// What a program should tell its person about the file of an offline feed.
public enum OfflineNotice: Sendable, Equatable {
    /// The file could not be read. It was moved to `movedTo`, and a new one was begun.
    ///
    /// The changes in its outbox that were not sent are lost.
    case outboxLost(movedTo: String, reason: String)
    /// Posts of the copy could not be read, and are in no list until the next sync brings them.
    ///
    /// The outbox is as it was.
    case postsDropped
}

extension OfflineNotice: CustomStringConvertible {
    /// What happened, as a sentence.
    public var description: String {
        switch self {
        case .outboxLost(let movedTo, let reason):
            "The offline file could not be read (\(reason)) and is now \(movedTo). "
                + "Changes that were not sent are lost."
        case .postsDropped:
            "Posts of the offline file could not be read. The next sync brings them again. "
                + "Changes that were not sent are kept."
        }
    }
}

extension OfflineError {
    /// Why it failed, in a word for programs: of a call that of the service or of the client.
    public var reason: Reason {
        switch self {
        case .service(let error): error.reason
        case .damaged: .outboxLost
        case .damagedPosts: .postsDropped
        case .otherClient, .file: .fileUnusable
        case .inUse: .fileInUse
        case .closed: .closed
        case .unknownPost: .postNotFound
        case .unknownEntry: .unknownEntry
        case .outboxFull: .outboxFull
        case .refused(let status): status.reason
        case .tooLarge: .requestTooLarge
        case .unsupportedOrder, .noSequences: .unknownMethod
        }
    }

    /// Whether it ended because its task was cancelled, which a person is not told of.
    public var isCancellation: Bool {
        if case .service(let error) = self { error.isCancellation } else { false }
    }
}

extension OfflineError: LocalizedError {
    /// A sentence for a person, of `Reason.texts`.
    public var errorDescription: String? { reason.text }
}
