import FeedConcurrency
import FeedTransport
import Histogram

/// How a responder delays its answers.
struct ResponderPlan: Sendable, Equatable {
    /// The shortest time for which a vote is held; nil answers at once and records nothing.
    var shortest: Duration?
    /// The mean of the exponential time that is added to it.
    var mean = Duration.zero
    /// When the stall begins, after the first vote; nil is no stall.
    var stallAfter: Duration?
    /// How long no answer leaves then.
    var stall = Duration.zero
    /// The seed that the delays are drawn from.
    var seed: UInt64 = 1
}

/// What a responder recorded about its own answers, on the clock that the generator reads too.
struct ResponderRecord: Sendable {
    /// From each vote's arrival to its answer.
    var held = LatencyScale.makeHistogram()
    /// When each answer left, in nanoseconds, in their order.
    var answerInstants: [UInt64] = []
}

/// A service in this process, over real sockets of the loopback interface, that does nothing but
/// answer after known delays: the truth that the generator's figures are compared with.
///
/// Its loop has a thread of its own.
final class Responder {
    /// Where it listens.
    let address: SocketAddress
    private let thread: EventLoopThread
    private let record: ResponderBox

    /// Starts a responder and waits until it listens.
    init(_ plan: ResponderPlan) throws(RunFailure) {
        let box = ResponderBox()
        do throws(TransportError) {
            thread = try EventLoopThread(
                name: "responder",
                configuration: .load,
                budget: BufferBudget()
            ) { loop in
                box.open(
                    Result { () throws(TransportError) in
                        loop.context = try ResponderLoop(plan, box, on: loop)
                        return try TCPListener(
                            at: .loopback(port: 0),
                            on: loop,
                            targets: [loop.mailbox]
                        ) { ResponderConnection($0) }.address
                    }
                )
            }
        } catch {
            throw .system(error.description)
        }
        record = box
        do throws(TransportError) {
            address = try box.address()
        } catch {
            thread.stop()
            thread.join()
            throw .system(error.description)
        }
    }

    /// Stops the responder and returns what it recorded; blocks until its thread has ended.
    func stop() -> ResponderRecord {
        thread.stop()
        thread.join()
        return record.record
    }
}

@available(*, unavailable)
extension Responder: Sendable {}

/// What a responder's thread hands to the thread that started it.
final class ResponderBox: Sendable {
    private let opened = Lock<Result<SocketAddress, TransportError>?>(nil)
    private let answered = Lock(ResponderRecord())
    private let isDecided = Semaphore()

    /// The responder listens, or cannot.
    func open(_ result: Result<SocketAddress, TransportError>) {
        opened.withLock { $0 = result }
        isDecided.signal()
    }

    /// Where the responder listens, once it does; for one caller.
    func address() throws(TransportError) -> SocketAddress {
        isDecided.wait()
        let result = opened.withLock { $0 }
        guard let result else { preconditionFailure("A signal follows its result.") }
        return try result.get()
    }

    /// Records an answer.
    func add(received: UInt64, answered instant: UInt64) {
        answered.withLock { record in
            record.held.record(min(instant &- received, LatencyScale.highestNanoseconds))
            record.answerInstants.append(instant)
        }
    }

    /// Everything recorded so far.
    var record: ResponderRecord { answered.withLock { $0 } }
}
