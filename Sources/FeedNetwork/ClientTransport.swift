package import FeedConcurrency

/// All that FeedClient needs of a transport: a thread with a loop, connections, timers and TLS.
///
/// FeedClient does not call through these protocols. It names the types of the one transport that
/// FeedClientTransport has chosen for the build, so a call costs what it costs without them. They say
/// what the next transport has to have, and the compiler checks that each has it.
package protocol ClientTransport {
    associatedtype Loop: TransportLoop
    associatedtype LoopThread: TransportThread where LoopThread.Loop == Loop
    associatedtype Security: TransportSecurity where Security.Target == Loop.Target
}

/// A thread that runs one loop, from its start until it is stopped.
package protocol TransportThread: AnyObject, Sendable {
    associatedtype Loop: TransportLoop

    var mailbox: Loop.Mailbox { get }

    /// Starts a thread that calls `start` on its loop and then runs it.
    init(
        name: String,
        limits: ClientByteLimits,
        start: @escaping @Sendable (Loop) -> Void
    ) throws(TransportError)

    func stop()

    /// Calls `body` when the loop is closed: on the thread as it ends, or at once if it has.
    func whenFinished(_ body: @escaping @Sendable () -> Void)
}

/// What each connection of a client may hold.
package struct ClientByteLimits: Sendable {
    /// The most bytes that the handler leaves while it waits for more.
    package let unconsumed: Int
    /// More unsent bytes than the handler ever lets wait.
    package let unsent: Int

    package init(unconsumed: Int, unsent: Int) {
        self.unconsumed = unconsumed
        self.unsent = unsent
    }
}

/// A loop with a client's connections, bound to its thread.
package protocol TransportLoop: AnyObject {
    associatedtype Connection: TransportConnection
    associatedtype Mailbox: TransportMailbox where Mailbox.Loop == Self
    associatedtype Timer: TransportTimer
    associatedtype Target: Sendable
    /// What takes the events of a connection: any ``TransportHandler``.
    associatedtype Handler

    var mailbox: Mailbox { get }
    /// The clock, which may be read once an iteration.
    var now: MonotonicInstant { get }
    /// The client's own object, set as the thread starts.
    var context: AnyObject? { get set }

    /// Throws if the loop is stopping.
    func addTimer(
        after delay: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> Timer

    /// Calls `body` repeatedly, first after one interval; late calls are not made up for.
    func addTimer(
        every interval: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> Timer

    /// Connects within a time, which includes the handshake of TLS; without security it sends plain bytes.
    ///
    /// The handler is notified either that the connection opened or that it closed. Throws if the loop is
    /// stopping or the system makes no socket.
    func connect(
        to address: SocketAddress,
        timeout: Duration,
        security: Target?,
        handler: Handler
    ) throws(TransportError)

    /// Runs the work that was posted, closes every connection, and ends the thread.
    func stop()
}

/// The way into a loop from other threads.
package protocol TransportMailbox: Sendable {
    associatedtype Loop

    /// Runs `work` on the loop soon, after earlier posted work; returns false, and runs nothing, if
    /// the loop has stopped.
    @discardableResult
    func post(_ work: @escaping @Sendable (Loop) -> Void) -> Bool
}

/// A timer, which lives until it is cancelled or has fired its last time.
package protocol TransportTimer: AnyObject {
    func cancel()
}

/// One connection on a loop.
package protocol TransportConnection: AnyObject {
    /// Whether the handler may still be shown bytes and write some.
    var isOpen: Bool { get }
    /// Bytes that were written and that the system has not taken.
    var pendingByteCount: Int { get }

    /// Shows the handler its unconsumed bytes, or none, in the next loop iteration.
    func requestIteration()

    /// Sends bytes; a connection that is closing takes none.
    func write(_ bytes: RawSpan)

    /// Sends what was written, ends the sending side, and closes when the peer has ended its own side,
    /// or after a second.
    func closeAfterFlush()

    /// Closes now, with a reset; unsent bytes are lost.
    func reset()
}

/// Receives the events of one connection, on the connection's loop only.
package protocol TransportHandler<Connection>: AnyObject {
    associatedtype Connection: TransportConnection

    func connectionOpened(_ connection: Connection)

    /// Delivers every byte that was not consumed yet, contiguous and valid for the call only.
    func connection(_ connection: Connection, received bytes: RawSpan) -> ReadProgress

    /// The peer ended its side; all bytes before the end were delivered.
    func connectionEndedInput(_ connection: Connection)

    /// The connection is gone; called exactly once and last, and never from within another call.
    func connectionClosed(_ connection: Connection, reason: CloseReason)
}

/// The TLS of a client: whom it trusts, and its own certificate.
package protocol TransportSecurity: Sendable {
    associatedtype Target: Sendable

    /// Reads the files; it refuses those that no service could be reached with.
    static func client(_ files: TLSClientFiles) throws(TLSFileError) -> Self

    /// How a connection to a host is secured, whose certificate must have its name or address.
    func target(host: String) -> Target
}

// Public, because every batch of requests crosses modules with one: the compiler inlines this and
// would not inline a `package` type.

/// The progress of a handler in the bytes that it was shown.
public struct ReadProgress: Sendable, Hashable {
    /// The number of bytes, from the first, that are not to be shown again.
    public var consumedByteCount: Int

    /// Whether complete work is left: the rest is shown again in the next loop iteration, before
    /// anything new is read.
    ///
    /// Otherwise the rest waits for more bytes.
    public var wantsIteration: Bool

    /// Whether that iteration is useless before some of the written bytes have been sent.
    public var waitsForWrites: Bool

    /// Whether the consumed bytes may have a secret: they are overwritten before the next wait.
    public var hasSecret: Bool

    /// Progress of `consumedByteCount` bytes.
    public init(
        consumedByteCount: Int,
        wantsIteration: Bool = false,
        waitsForWrites: Bool = false,
        hasSecret: Bool = false
    ) {
        self.consumedByteCount = consumedByteCount
        self.wantsIteration = wantsIteration
        self.waitsForWrites = waitsForWrites
        self.hasSecret = hasSecret
    }
}
