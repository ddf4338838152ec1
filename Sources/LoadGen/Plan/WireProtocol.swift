/// The protocol that a run speaks with the server, as `--protocol` names it.
package enum WireProtocol: String, Sendable, CaseIterable {
    /// The protocol of the feed service.
    case feed
    /// RESP2, the protocol of redis-server: posts are the members of a sorted set.
    case resp

    /// The address of `--target` where none is given: each server's usual port of this machine.
    package var usualTarget: String {
        switch self {
        case .feed: "127.0.0.1:7433"
        case .resp: "127.0.0.1:6379"
        }
    }
}
