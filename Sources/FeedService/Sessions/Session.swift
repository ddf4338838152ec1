internal import FeedConcurrency
internal import FeedRanking

/// The service's state of a connection between two loop iterations.
struct Session {
    /// The requests that may be executed.
    var life = SessionLife()
    var caller: Caller
    /// The last request that the limits of the caller's identity have counted: one that is passed again
    /// is counted once.
    var chargedID: UInt64 = 0
    /// The progress of the request that needs another loop iteration.
    var suspendedWork = SuspendedWork()
}

/// The life of a connection and the last request that it executed: a value without I/O or clock.
///
/// Request ids rise strictly on a connection, so GoAway can name the last executed request.
package struct SessionLife {
    private enum State {
        case serving
        /// The service is stopping: requests that were received whole are finished, then GoAway
        /// is sent.
        case draining
        case closing
    }

    package enum RequestAction: Equatable {
        case execute
        /// Its id is not above the last one: answer BAD_FRAME and close.
        case refuse(lastID: UInt64)
        /// The connection is closing: ignore it.
        case ignore
    }

    private var state = State.serving

    package init() {}

    /// The highest id that was executed, 0 before the first.
    package private(set) var lastID: UInt64 = 0

    package var isClosing: Bool { state == .closing }

    /// Whether GoAway is sent after the received requests are finished.
    package var isDraining: Bool { state == .draining }

    /// A request of this id was read.
    package func action(for id: UInt64) -> RequestAction {
        if state == .closing { return .ignore }
        return id > lastID ? .execute : .refuse(lastID: lastID)
    }

    /// Whether a request of this id is executed.
    @inline(__always)
    func executes(_ id: UInt64) -> Bool { state != .closing && id > lastID }

    /// The request of this id was executed, or refused with an answer of its own.
    package mutating func answered(_ id: UInt64) {
        precondition(id > lastID, "A request is answered once, in the order of ids.")
        lastID = id
    }

    /// The service is stopping.
    package mutating func drain() {
        if state == .serving { state = .draining }
    }

    /// No more requests will be executed; true the first time.
    package mutating func close() -> Bool {
        defer { state = .closing }
        return state != .closing
    }
}

/// The progress of a request that needs more work than one loop iteration allows.
struct SuspendedWork {
    /// The refresh allowance of reads in the next loop iteration; larger where a read has waited.
    var refreshAllowance = RefreshAllowance()
    /// The progress of an import's check that waits for its next iteration; nil where none waits.
    var textWalk: TextWalk?
}

/// How much of an import's texts may still be walked character by character in this loop iteration.
///
/// A walk takes about 25 ns a byte where characters have many scalars, so the texts of a full frame
/// would occupy a loop for 28 ms. An import that has used up an iteration continues in a later one,
/// after the posts that are checked.
package struct TextWalk: Sendable {
    private var remainingByteCount: Int
    /// The number of posts, from the import's first, that keep to the rules.
    package private(set) var checkedPostCount = 0

    /// A walk in its first loop iteration.
    ///
    /// - Parameter byteLimit: The bytes of an iteration; a post that is begun is finished.
    package init(byteLimit: Int) {
        remainingByteCount = byteLimit
    }

    /// Whether another post may be checked in this iteration; the first one always may.
    package var hasRoom: Bool { remainingByteCount > 0 }

    /// Counts the next post, which keeps to the rules, and the bytes that were walked for it.
    package mutating func checked(walkedByteCount: Int) {
        checkedPostCount += 1
        remainingByteCount -= walkedByteCount
    }

    /// Ends the import; the next one in this iteration has the rest of the bytes.
    package mutating func endImport() {
        checkedPostCount = 0
    }

    package mutating func renew(byteLimit: Int) {
        remainingByteCount = byteLimit
    }
}

/// The limits of the requests that one connection has executed in one loop iteration.
struct IterationLimits {
    /// How many frames may still be executed.
    var frameCount: Int
    /// The bytes of answers at which nothing more is executed; without room if not positive.
    let answerByteCount: Int
    /// How long the first request has waited for its loop iteration; nil is not at all.
    let waited: Duration?
    let now: MonotonicInstant
}
