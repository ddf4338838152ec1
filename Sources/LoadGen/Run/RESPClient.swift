import FeedConcurrency
import FeedText
import FeedTransport

/// Sends the commands before and after the load, over a connection on a thread of its own.
///
/// Commands of one call are sent together, and calls one after another.
final class RESPClient: Sendable {
    private let thread: EventLoopThread
    private let calls: LoopBound<RESPCalls>

    private init(_ thread: EventLoopThread, _ calls: LoopBound<RESPCalls>) {
        self.thread = thread
        self.calls = calls
    }

    /// Connects to the server at `address`.
    static func connect(
        to address: SocketAddress,
        _ configuration: RunConfiguration
    ) async throws(RESPFailure) -> RESPClient {
        let thread: EventLoopThread
        do throws(TransportError) {
            thread = try EventLoopThread(
                name: "resp",
                configuration: .load,
                budget: BufferBudget()
            ) { _ in }
        } catch {
            throw .cannotConnect(error.description)
        }
        let opened: Result<LoopBound<RESPCalls>, RESPFailure> = await withCheckedContinuation {
            continuation in
            thread.mailbox.post { loop in
                let calls = RESPCalls(loop, replyTimeout: configuration.replyTimeout)
                calls.connect(to: address, timeout: configuration.connectTimeout) { failure in
                    continuation.resume(
                        returning: failure.map(Result.failure)
                            ?? .success(LoopBound(calls, to: loop.mailbox))
                    )
                }
            }
        }
        do {
            return RESPClient(thread, try opened.get())
        } catch {
            thread.stop()
            throw error
        }
    }

    /// The replies to `commands`, in order; the first error among them is thrown.
    func call(_ commands: [[UInt8]]) async throws(RESPFailure) -> [RESPValue] {
        guard !Task.isCancelled else { throw .connectionLost }
        let result = await withCheckedContinuation { continuation in
            calls.post { $0.send(commands) { continuation.resume(returning: $0) } }
        }
        let replies = try result.get()
        for case .error(let text) in replies { throw .refused(text) }
        return replies
    }

    /// Closes the connection and ends the thread.
    func close() async {
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }
}

/// Why a command has no reply to use.
enum RESPFailure: Error, Equatable, CustomStringConvertible {
    /// The server cannot be reached.
    case cannotConnect(String)
    /// The connection ended.
    case connectionLost
    /// No reply came in time.
    case noReply(within: Duration)
    /// The server refused a command.
    case refused(String)
    /// The reply is none that the command has.
    case badReply(String)

    /// One clear sentence.
    var description: String {
        switch self {
        case .cannotConnect(let cause): cause
        case .connectionLost: "The connection ended."
        case .noReply(let limit): "No reply came within \(NumberFormat.duration(limit))."
        case .refused(let text): VisibleText.line(text)
        case .badReply(let text): VisibleText.line(text)
        }
    }
}

/// The connection of a ``RESPClient``, on its loop.
private final class RESPCalls: ConnectionHandler {
    private let loop: EventLoop
    private let replyTimeout: Duration
    private var connection: TCPConnection?
    private var opened: ((RESPFailure?) -> Void)?
    private var done: ((Result<[RESPValue], RESPFailure>) -> Void)?
    private var replies: [RESPValue] = []
    private var dueCount = 0
    private var timer: LoopTimer?

    init(_ loop: EventLoop, replyTimeout: Duration) {
        self.loop = loop
        self.replyTimeout = replyTimeout
    }

    func connect(
        to address: SocketAddress,
        timeout: Duration,
        _ opened: @escaping (RESPFailure?) -> Void
    ) {
        self.opened = opened
        do throws(TransportError) {
            try loop.connect(to: address, timeout: timeout, handler: self)
        } catch {
            self.opened = nil
            opened(.cannotConnect(error.description))
        }
    }

    func send(_ commands: [[UInt8]], _ done: @escaping (Result<[RESPValue], RESPFailure>) -> Void) {
        guard let connection else { return done(.failure(.connectionLost)) }
        self.done = done
        replies = []
        dueCount = commands.count
        timer = try? loop.addTimer(after: replyTimeout) { [unowned self] in
            finish(.failure(.noReply(within: replyTimeout)))
            self.connection?.reset()
        }
        connection.write(Array(commands.joined()))
        finishIfDone()
    }

    func connectionOpened(_ connection: TCPConnection) {
        self.connection = connection
        opened?(nil)
        opened = nil
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do throws(RESPError) {
            while let reply = try RESPReader.next(in: bytes, at: &offset) { replies.append(reply) }
        } catch {
            connection.reset()
            finish(.failure(.badReply(error.description)))
            return ReadProgress(consumedByteCount: bytes.byteCount)
        }
        finishIfDone()
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        self.connection = nil
        if case .connectFailed(let error) = reason {
            opened?(.cannotConnect(error.description))
        } else {
            opened?(.connectionLost)
        }
        opened = nil
        finish(.failure(.connectionLost))
    }

    private func finishIfDone() {
        if replies.count >= dueCount { finish(.success(replies)) }
    }

    private func finish(_ result: Result<[RESPValue], RESPFailure>) {
        timer?.cancel()
        timer = nil
        guard let done else { return }
        self.done = nil
        done(result)
    }
}
