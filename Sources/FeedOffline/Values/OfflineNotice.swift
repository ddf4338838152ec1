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
