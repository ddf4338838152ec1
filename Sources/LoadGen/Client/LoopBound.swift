import FeedTransport

/// A value that belongs to one event loop and passes through other threads back to that loop.
///
/// No thread reads it on the way: `with` takes the running loop, which only its own thread has.
struct LoopBound<Value>: @unchecked Sendable {
    private let value: Value
    private let mailbox: LoopMailbox

    init(_ value: Value, to mailbox: LoopMailbox) {
        self.value = value
        self.mailbox = mailbox
    }

    /// Runs `body` on the loop; a stopped loop does not run it.
    func post(_ body: @escaping @Sendable (Value) -> Void) {
        _ = mailbox.post { _ in body(self.value) }
    }
}
