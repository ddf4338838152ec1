/// How many connections a listener lets in, and what the others are told.
package struct Admission: Sendable {
    /// Connections over all loops; further ones are refused.
    package var maximumConnectionCount: Int

    /// What a refused connection is sent before it is closed.
    package var refusal: [UInt8]

    /// Refused connections that may be taking their refusal at once; further ones get none.
    package var maximumLingeringRefusals: Int

    /// Lets in `maximumConnectionCount` and answers `refusal` to the others.
    package init(
        maximumConnectionCount: Int = TransportLimits.maximumConnectionCount,
        refusal: [UInt8] = [],
        maximumLingeringRefusals: Int = TransportLimits.maximumLingeringRefusals
    ) {
        self.maximumConnectionCount = maximumConnectionCount
        self.refusal = refusal
        self.maximumLingeringRefusals = maximumLingeringRefusals
    }
}
