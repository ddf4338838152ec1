import FeedConcurrency
import FeedReplica
import FeedTestSupport
import Glibc
import Synchronization

/// A replica in the process of a test, on a real Unix socket: a node of a ``FakeCluster``.
package final class FakeReplica: Sendable {
    package let cluster: FakeCluster
    package let node: UInt64
    /// The path of the socket; it stays the same over stops and starts.
    package let socketPath: String

    private struct Running: Sendable {
        let listener: Int32
        let thread: NamedThread
        let isServing: Flag
    }

    private let running = Lock<Running?>(nil)
    private let directory: Transferred<TemporaryDirectory>
    private let isReading = Flag()

    /// A node that does not run yet.
    package init(in cluster: FakeCluster = FakeCluster(), node: UInt64 = 1) throws {
        let directory = try TemporaryDirectory()
        self.cluster = cluster
        self.node = node
        self.directory = Transferred(directory)
        socketPath = directory.path + "/replica"
        cluster.change { state in
            guard state.members[node] == nil else { return }
            state.members[node] = Member(name: "n\(node)", url: "http://127.0.0.1", isVoter: true)
        }
    }

    deinit { stop() }

    /// Listens at the socket.
    package func start() throws {
        let listener = try Self.listen(at: socketPath)
        let (cluster, node, isReading, isServing) = (cluster, node, isReading, Flag())
        let thread = NamedThread("fake-replica")
        running.withLock { running in
            precondition(running == nil, "A replica starts once before it is stopped.")
            running = Running(listener: listener, thread: thread, isServing: isServing)
        }
        try thread.start {
            var connections: [NamedThread] = []
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    if errno == EINTR { continue }
                    break
                }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let thread = NamedThread("fake-session")
                let isStarted =
                    (try? thread.start {
                        Self.serve(descriptor, cluster, node, isReading, isServing)
                    }) != nil
                if isStarted { connections.append(thread) } else { close(descriptor) }
            }
            for connection in connections { connection.join() }
        }
    }

    /// Ends all connections with END 37, or cuts them off as a process that is killed; then nobody listens.
    package func stop(cutting cuts: Bool = false) {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let stopped else { return }
        shutdown(stopped.listener, Int32(SHUT_RDWR))
        let node = node
        unsafe unlink(socketPath)
        isReading.value = true
        stopped.isServing.value = false
        cluster.change { state in
            let notice = cuts ? nil : ReplicaWord.end(.stopping, text: "the replica stops")
            for (number, connection) in state.connections where connection.node == node {
                state.end(number, notice)
            }
        }
        stopped.thread.join()
        close(stopped.listener)
    }

    /// Takes nothing of what services say, so that their sockets fill, until ``goOnReading()``.
    package func stopReading() { isReading.value = false }

    package func goOnReading() {
        isReading.value = true
        cluster.change { _ in }
    }

    private static func listen(at path: String) throws -> Int32 {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        let listener = socket(AF_UNIX, Int32(kind), 0)
        guard listener >= 0 else { throw ReplicaError.system(call: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: Array(path.utf8))
        }
        let code = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, Glibc.listen(listener, 16) == 0 else {
            throw ReplicaError.system(call: "bind", code: errno)
        }
        return listener
    }

    /// Moves the words of one connection, until it ends.
    private static func serve(
        _ descriptor: Int32,
        _ cluster: FakeCluster,
        _ node: UInt64,
        _ isReading: Flag,
        _ isServing: Flag
    ) {
        let socket = FrameSocket(adopting: descriptor, expecting: FrameKind.ofService)
        guard let wakeUp = try? ReplicaWakeUp() else { return }
        let number = cluster.change { $0.open(node, wakeUp) }
        defer { cluster.change { $0.close(number) } }
        // One that was accepted just before the end was not open when the others were ended.
        if !isServing.value { cluster.change { $0.end(number, nil) } }
        do {
            while true {
                if isReading.value {
                    do {
                        while let frame = try socket.next() {
                            let tail = socket.tail(of: frame)
                            let word = try ServiceWord(frame, tail: tail)
                            let body = frame.kind == .propose ? tail : []
                            cluster.change { $0.handle(word, body, of: number) }
                        }
                    } catch {
                        guard case .badFrame = error else { throw error }
                        cluster.change { $0.violate(number, error.description) }
                    }
                }
                let turn = cluster.turn(number)
                for word in turn.words { socket.send(word) }
                if turn.isLast { break }
                if isReading.value {
                    try socket.wait(upTo: turn.longestWait, orWake: wakeUp)
                } else {
                    try wakeUp.wait(upTo: .milliseconds(1))
                }
            }
            let end = MonotonicInstant.now.advanced(by: .seconds(1))
            while socket.unsentByteCount > 0, MonotonicInstant.now < end {
                try socket.wait(upTo: .milliseconds(1), orWake: wakeUp)
            }
        } catch {
            // The service is gone, or takes nothing.
        }
    }
}

/// A flag that threads share.
private final class Flag: Sendable {
    private let flag = Atomic(true)

    var value: Bool {
        get { flag.load(ordering: .acquiring) }
        set { flag.store(newValue, ordering: .releasing) }
    }
}
