/// What a program should tell its person about the file of an offline feed.
public enum OfflineNotice: Sendable, Equatable {
    /// The file could not be read. It was moved to `movedTo`, and a new one was begun.
    ///
    /// The changes in its outbox that were not sent are lost.
    case outboxLost(movedTo: String, reason: String)
}

extension OfflineNotice: CustomStringConvertible {
    /// What happened, as a sentence.
    public var description: String {
        switch self {
        case .outboxLost(let movedTo, let reason):
            "The offline file could not be read (\(reason)) and is now \(movedTo). "
                + "Changes that were not sent are lost."
        }
    }
}
