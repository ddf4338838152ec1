/// The limits of a loop and its connections; the defaults are those of ``TransportLimits``.
package struct TransportConfiguration: Sendable {
    /// The size of the loop's one receive buffer.
    package var receiveBufferByteCount = TransportLimits.receiveBufferByteCount

    /// Whether short reads are shown to their handlers only after all reads of a wait.
    ///
    /// Each of these reads is announced to its handler before it is shown. A program that measures
    /// arrival times needs each read at once.
    package var showsReadsTogether = false

    /// Whether the loop measures how long it sleeps, for which it calls the kernel once more before
    /// each sleep.
    package var measuresIdleTime = false

    /// Unsent bytes at which a connection is no longer read from or worked for.
    package var highWatermarkByteCount = TransportLimits.highWatermarkByteCount

    /// Unsent bytes at which reading and work resume.
    package var lowWatermarkByteCount = TransportLimits.lowWatermarkByteCount

    /// The most bytes that a handler may leave unconsumed while it waits for more; leaving more is
    /// its mistake.
    package var maximumUnconsumedByteCount = TransportLimits.maximumUnconsumedByteCount

    /// Silence after which a connection is closed; nil for a client, which may wait without limit.
    package var idleTimeout: Duration? = TransportLimits.idleTimeout

    /// How long the rest of a begun frame may take.
    package var partialReadTimeout: Duration? = TransportLimits.partialReadTimeout

    /// How long a peer may take none of the bytes that wait for it.
    package var writeProgressTimeout: Duration? = TransportLimits.writeProgressTimeout

    /// How long a flushed connection waits for the peer's end of file.
    package var lingerTimeout = TransportLimits.lingerTimeout

    /// How often deadlines are checked.
    package var sweepInterval = TransportLimits.sweepInterval

    /// Silence before the kernel probes the peer.
    package var keepAliveIdle = TransportLimits.keepAliveIdle

    /// Time between two probes.
    package var keepAliveInterval = TransportLimits.keepAliveInterval

    /// Probes without an answer before the connection is given up.
    package var keepAliveProbeCount = TransportLimits.keepAliveProbeCount

    /// How long sent bytes may stay unacknowledged.
    package var unacknowledgedTimeout = TransportLimits.unacknowledgedTimeout

    /// The size of a socket's send buffer; nil leaves it to the kernel.
    package var sendBufferByteCount: Int?

    /// The size of the send buffer that is lent to a connection whose peer takes long answers; nil
    /// lends none.
    package var lentSendBufferByteCount: Int?

    /// Whether connections are closed, the largest holders first, where the budget has too little
    /// left for the others; a client closes none.
    package var closesOverBudget = false

    /// The clock of timers and deadlines; nil is the system's monotonic clock.
    package var clock: ManualClock?

    /// A configuration with the default limits.
    package init() {}
}
