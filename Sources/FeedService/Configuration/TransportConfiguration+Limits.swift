internal import FeedTransport

extension TransportConfiguration {
    /// What the limits of the service mean for its sockets, on the system's clock or another.
    init(_ limits: ServiceLimits, clock: ManualClock?) {
        self.init()
        self.clock = clock
        closesOverBudget = true
        sendBufferByteCount = TransportLimits.sendBufferByteCount
        lentSendBufferByteCount = TransportLimits.lentSendBufferByteCount
        showsReadsTogether = true
        // A frame and its header of four bytes.
        maximumUnconsumedByteCount = limits.maximumFrameByteCount + 4
        highWatermarkByteCount = limits.maximumUnsentByteCount
        lowWatermarkByteCount = limits.maximumUnsentByteCount / 4
        idleTimeout = limits.idleTimeout
        partialReadTimeout = limits.frameTimeout
        writeProgressTimeout = limits.writeProgressTimeout
        // Deadlines are late by up to two sweeps, so short ones need more of them.
        let shortest = min(limits.idleTimeout, limits.frameTimeout, limits.writeProgressTimeout)
        sweepInterval = min(sweepInterval, max(.milliseconds(5), shortest / 4))
    }
}
