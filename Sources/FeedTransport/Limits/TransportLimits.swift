/// Every limit of the transport in one place, each with its reason.
package enum TransportLimits {
    /// The most bytes of one read; one buffer serves a whole loop, so it may be generous.
    package static let receiveBufferByteCount = 64 * 1_024
    /// Unsent bytes at which a peer is no longer read from or worked for.
    package static let highWatermarkByteCount = 1_024 * 1_024
    /// Unsent bytes at which reading and work resume; well below the high watermark, to avoid
    /// flapping.
    package static let lowWatermarkByteCount = 256 * 1_024
    /// The largest frame and its header: what a handler may leave while it waits for more.
    package static let maximumUnconsumedByteCount = 1_024 * 1_024 + 4
    /// Bytes held over all loops: a fraction of a small machine's memory.
    package static let budgetByteCount = 192 * 1_024 * 1_024
    /// A server socket's send buffer, of which the kernel makes 32 KiB: more than the answers to 64
    /// votes, and 320 MB for the greatest number of connections.
    package static let sendBufferByteCount = 16 * 1_024
    /// The send buffer of a connection that takes long answers: a megabyte in four steps.
    package static let lentSendBufferByteCount = 128 * 1_024
    /// Sweeps without a full send buffer after which a lent one is given back: 10 s.
    static let lentSweepCount = 20
    /// Clients ping after 30 s of silence, so three pings were lost.
    package static let idleTimeout = Duration.seconds(90)
    /// A frame of 1 MiB needs 5 s at 1.7 Mbit/s; slower senders hold memory for too long.
    package static let partialReadTimeout = Duration.seconds(5)
    /// A peer that takes nothing for this long will take nothing later, though its kernel answers
    /// probes.
    package static let writeProgressTimeout = Duration.seconds(10)
    /// How long a closed connection waits for the peer's end of file.
    package static let lingerTimeout = Duration.seconds(1)
    /// How often deadlines are checked: a deadline is late by at most two of these.
    package static let sweepInterval = Duration.milliseconds(500)
    /// Silence before the kernel probes a peer: with the next two, a dead host is seen in 45 s.
    package static let keepAliveIdle = Duration.seconds(30)
    /// Time between two probes.
    package static let keepAliveInterval = Duration.seconds(5)
    /// Probes without an answer before the connection is given up.
    package static let keepAliveProbeCount = 3
    /// How long sent bytes may stay unacknowledged (TCP_USER_TIMEOUT).
    package static let unacknowledgedTimeout = Duration.seconds(30)
    /// Connections the kernel queues for a listener: a second of a fast connect storm.
    package static let listenBacklog: Int32 = 4_096
    /// Connections accepted in one loop iteration, so that a connect storm does not starve open
    /// connections.
    package static let acceptsPerIteration = 64
    /// How long a listener rests when no descriptor or memory is left for a connection.
    package static let acceptPause = Duration.milliseconds(100)
    /// Refused connections that may still be taking their refusal.
    package static let maximumLingeringRefusals = 32

    /// The TLS handshakes of peers that are under way on a loop; above it one gives way to the next.
    ///
    /// It is less if all loops would have more than half of the connections.
    package static let maximumHandshakeCount = 1_024
    /// The time that handshakes take of a loop iteration: two or three with a key on a curve, one with
    /// an RSA key, which lasts longer.
    package static let handshakeTimePerIteration = Duration.microseconds(500)
    /// The time of handshakes after which the times that hosts have taken are halved: a second's worth.
    static let handshakeMemoryNanoseconds = 1_000_000_000
    package static let handshakeTimeout = Duration.seconds(10)
    /// Connections over all loops, before the limit of open files lowers it.
    package static let maximumConnectionCount = 10_000
    /// The capacity that an emptied buffer keeps; above it, an idle connection returns its memory.
    static let retainedCapacityByteCount = 512
    /// Bytes of an unfinished frame that are kept for any peer: a vote is smaller, and the greatest
    /// number of connections holds 5 MiB this way.
    static let alwaysKeptByteCount = 512
    /// The longest read that is kept to be shown together with others: a few requests.
    static let shortReadByteCount = 256
}

/// The limits of a loop and its connections; the defaults are those of ``TransportLimits``.
package struct TransportConfiguration: Sendable {
    package var receiveBufferByteCount = TransportLimits.receiveBufferByteCount

    /// Whether short reads are shown to their handlers only after all reads of a wait.
    ///
    /// Each of these reads is announced to its handler before it is shown. A program that measures
    /// arrival times needs each read at once.
    package var showsReadsTogether = false
    /// Whether the loop measures how long it sleeps, for which it calls the kernel once more before
    /// each sleep.
    package var measuresIdleTime = false
    package var highWatermarkByteCount = TransportLimits.highWatermarkByteCount
    package var lowWatermarkByteCount = TransportLimits.lowWatermarkByteCount
    /// The most bytes that a handler may leave unconsumed while it waits for more; leaving more is
    /// its mistake.
    package var maximumUnconsumedByteCount = TransportLimits.maximumUnconsumedByteCount
    /// Silence after which a connection is closed; nil for a client, which may wait without limit.
    package var idleTimeout: Duration? = TransportLimits.idleTimeout
    package var partialReadTimeout: Duration? = TransportLimits.partialReadTimeout
    package var writeProgressTimeout: Duration? = TransportLimits.writeProgressTimeout
    package var lingerTimeout = TransportLimits.lingerTimeout
    package var sweepInterval = TransportLimits.sweepInterval
    package var keepAliveIdle = TransportLimits.keepAliveIdle
    package var keepAliveInterval = TransportLimits.keepAliveInterval
    package var keepAliveProbeCount = TransportLimits.keepAliveProbeCount
    package var unacknowledgedTimeout = TransportLimits.unacknowledgedTimeout
    /// The size of a socket's send buffer; nil leaves it to the kernel.
    package var sendBufferByteCount: Int?
    /// The size of the send buffer that is lent to a connection whose peer takes long answers; nil
    /// lends none.
    package var lentSendBufferByteCount: Int?
    /// Whether connections are closed, the largest holders first, if the budget has too little
    /// left for the others; a client closes none.
    package var closesOverBudget = false
    /// The clock of timers and deadlines; nil is the system's monotonic clock.
    package var clock: ManualClock?

    package init() {}
}
