package import FeedClient

extension FeedClientError {
    /// Whether nothing was sent, as there is no service at the address.
    package var isUnreachable: Bool {
        switch self {
        case .cannotConnect, .unknownHost: true
        default: false
        }
    }

    /// The error; where nothing was sent, with the flag that keeps the change.
    var namingQueue: FeedClientError {
        let hint = " (--queue keeps the change for feedctl sync)"
        return switch self {
        case .cannotConnect(let reason): .cannotConnect(reason: reason + hint)
        case .unknownHost(let name, let reason): .unknownHost(name: name, reason: reason + hint)
        default: self
        }
    }
}
