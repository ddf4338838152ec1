/// The limit of a listener's connections, and the bytes that refused ones are sent.
package struct Admission: Sendable {
    /// Connections over all loops; further ones are refused.
    package var maximumConnectionCount: Int

    /// The bytes that a refused connection is sent before it is closed.
    package var refusal: [UInt8]

    /// The most refused connections that may take their refusal at once; further ones get none.
    package var maximumLingeringRefusals: Int

    /// Admits `maximumConnectionCount` connections and sends `refusal` to the others.
    package init(
        maximumConnectionCount: Int = TransportLimits.maximumConnectionCount,
        refusal: [UInt8] = [],
        maximumLingeringRefusals: Int = TransportLimits.maximumLingeringRefusals
    ) {
        self.maximumConnectionCount = maximumConnectionCount
        self.refusal = refusal
        self.maximumLingeringRefusals = maximumLingeringRefusals
    }

    /// The TLS handshakes that may be under way on one of so many loops.
    ///
    /// All of them have half of the connections: peers that do not finish theirs keep nobody out.
    package func handshakeLimit(loopCount: Int) -> Int {
        max(1, min(TransportLimits.maximumHandshakeCount, maximumConnectionCount / 2 / loopCount))
    }
}
