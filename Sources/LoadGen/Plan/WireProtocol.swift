internal import FeedClient

/// The protocol that a run speaks with the server, as `--protocol` names it.
package enum WireProtocol: String, Sendable, CaseIterable {
    /// The protocol of the feed service.
    case feed
    /// RESP2, the protocol of redis-server: posts are the members of a sorted set.
    case resp

    /// The address of a server as it is typed, with the protocol's usual port where it has none; the
    /// usual server of this machine where nothing is typed.
    package func address(of target: String?) -> String {
        FeedClient.address(of: target, usual: usualTarget)
    }

    private var usualTarget: String {
        switch self {
        case .feed: FeedClient.defaultAddress
        case .resp: "127.0.0.1:6379"
        }
    }
}
