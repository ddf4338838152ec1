/// The life of a connection and the last request that it executed: a value without I/O or clock.
///
/// Request ids rise strictly on a connection, so GoAway can name the last executed request.
package struct SessionLife {
    private enum State {
        /// Requests are executed.
        case serving
        /// The service is stopping: requests that were received whole are finished, then GoAway
        /// is sent.
        case draining
        /// Nothing more is executed; answers are flushed and the connection closes.
        case closing
    }

    /// The decision about a request.
    package enum RequestAction: Equatable {
        /// Execute it and answer.
        case execute
        /// Its id is not above the last one: answer BAD_FRAME and close.
        case refuse(lastID: UInt64)
        /// The connection is closing: ignore it.
        case ignore
    }

    private var state = State.serving

    /// A connection that has just been opened.
    package init() {}

    /// The highest id that was executed, 0 before the first.
    package private(set) var lastID: UInt64 = 0

    /// Whether nothing more is executed.
    package var isClosing: Bool {
        switch state {
        case .serving, .draining: false
        case .closing: true
        }
    }

    /// Whether GoAway is sent after the received requests are finished.
    package var isDraining: Bool {
        switch state {
        case .draining: true
        case .serving, .closing: false
        }
    }

    /// A request of this id was read.
    package func action(for id: UInt64) -> RequestAction {
        switch state {
        case .serving, .draining: id > lastID ? .execute : .refuse(lastID: lastID)
        case .closing: .ignore
        }
    }

    /// Whether a request of this id is executed.
    @inline(__always)
    func executes(_ id: UInt64) -> Bool {
        switch state {
        case .serving, .draining: id > lastID
        case .closing: false
        }
    }

    /// The request of this id was executed, or refused with an answer of its own.
    package mutating func answered(_ id: UInt64) {
        precondition(id > lastID, "A request is answered once, in the order of ids.")
        lastID = id
    }

    /// The service is stopping.
    package mutating func drain() {
        switch state {
        case .serving: state = .draining
        case .draining, .closing: break
        }
    }

    /// No more requests will be executed; true the first time.
    package mutating func close() -> Bool {
        switch state {
        case .serving, .draining:
            state = .closing
            return true
        case .closing:
            return false
        }
    }
}
