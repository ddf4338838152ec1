import FeedClient

/// The identity of a run with retries, so that a request sent twice is executed once.
package struct RunIdentity: Sendable {
    /// The client id, unique to this run and never from its seed.
    let clientID: ClientID
    /// The state that the service had when the run began; another state has none of the run's
    /// votes.
    let instanceID: UInt64

    /// The most requests in flight on a channel: the service remembers that many sequences.
    package static let longestPipeline = 256

    /// The channel of the calls before the load.
    static let controlChannel: UInt32 = 0

    /// The channel of connection number `client` over all threads.
    static func channel(client: Int) -> UInt32 { UInt32(client + 1) }
}
