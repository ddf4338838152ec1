/// A client's channel, on which it numbers its calls.
package struct ChannelState: Equatable, Hashable, BitwiseCopyable, Sendable {
    /// The short number that outcomes name the channel by.
    package var number: UInt64
    /// The first eight bytes of the client's id.
    package var clientHigh: UInt64
    /// The last eight bytes of the client's id.
    package var clientLow: UInt64
    package var channel: UInt32

    package init(number: UInt64, clientHigh: UInt64, clientLow: UInt64, channel: UInt32) {
        self.number = number
        self.clientHigh = clientHigh
        self.clientLow = clientLow
        self.channel = channel
    }
}
