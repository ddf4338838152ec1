internal import FeedTransport

extension TransportConfiguration {
    /// The transport's configuration for the limits of the service; a nil `clock` is the system's.
    init(_ limits: ServiceLimits, clock: ManualClock?) {
        self.init()
        self.clock = clock
        closesOverBudget = true
        sendBufferByteCount = TransportLimits.sendBufferByteCount
        lentSendBufferByteCount = TransportLimits.lentSendBufferByteCount
        showsReadsTogether = true
        measuresIdleTime = true
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
