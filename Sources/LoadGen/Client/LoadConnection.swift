/// A connection under load, as its thread sees it: the seam between the pace of a load and the
/// protocol that it speaks.
///
/// The thread says when requests may leave; the connection says whether it has room, and knows
/// frames, answers and retries. All of it runs on the thread's loop.
protocol LoadConnection: AnyObject {
    /// Whether requests may leave on it.
    var isOpen: Bool { get }
    /// Whether it can take a request.
    var hasRoom: Bool { get }
    /// Whether it took requests that are not written yet.
    var hasUnwritten: Bool { get }

    /// Opens the connection and sends Hello.
    func connect()
    /// Closed loop: sends as many requests as there is room for.
    func fill()
    /// Open loop: takes a request that is due at an instant; the next flush sends it.
    func take(intended: UInt64)
    /// Writes the requests taken, in one write.
    func flush(at now: UInt64)
    /// Finds requests whose time ran out, keeps an idle connection alive, and ends pauses.
    func sweep(_ now: UInt64)
    /// Closes the connection; requests in flight are lost.
    func close()
}

extension Worker {
    /// The connection of a client, which speaks what the server does.
    func makeClient(_ index: Int) -> any LoadConnection {
        guard let posts = setup.workload.sortedSet else {
            return ClientConnection(self, index: index)
        }
        return RESPConnection(self, index: index, posts: posts)
    }
}
