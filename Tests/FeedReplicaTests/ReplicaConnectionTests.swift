import CMallocHook
import FakeReplica
import FeedConcurrency
import FeedReplica
import FeedTestSupport
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReplicaConnectionTests {
    /// Longer than any test takes: a wait that ends before was ended by something.
    private static let forever = Duration.seconds(3_600)

    @Test func sendsALongBatchAsThePeerReads() throws {
        let (replica, connection) = try RawPeer.withService(sendBufferByteCount: 4_096)
        let body = (0..<ReplicaLimits.bodyByteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        connection.send(.propose(term: 1, index: 2), body: body.span)
        connection.send(.durable(7))
        #expect(connection.unsentByteCount > body.count / 2)
        let wakeUp = try ReplicaWakeUp()
        var bytes: [UInt8] = []
        while bytes.count < 21 + body.count + 13 {
            let piece = replica.receive(1 << 16)
            bytes += piece
            // Ends at once, as the socket takes more.
            if connection.unsentByteCount > 0 {
                try connection.wait(upTo: Self.forever, orWake: wakeUp)
            }
        }
        #expect(connection.unsentByteCount == 0)
        #expect(bytes[21..<21 + body.count].elementsEqual(body))
        #expect(Array(bytes.suffix(13)) == GoldenWords.bytes("09000000 03 0700000000000000"))
    }

    @Test func aWaitEndsWithBytes() throws {
        let (replica, connection) = try RawPeer.withService()
        let wakeUp = try ReplicaWakeUp()
        #expect(replica.send(GoldenWords.bytes("09000000 45 0900000000000000")[...]) == 13)
        try connection.wait(upTo: Self.forever, orWake: wakeUp)
        #expect(try connection.receive() == .readOK(9))
        try connection.wait(upTo: .zero, orWake: wakeUp)
        #expect(try connection.receive() == nil)
    }

    @Test func aWakeUpAheadOfTheWaitEndsIt() throws {
        let (peer, connection) = try RawPeer.withService()
        let wakeUp = try ReplicaWakeUp()
        for _ in 0..<3 {
            for _ in 0..<100 { wakeUp.wake() }
            try connection.wait(upTo: Self.forever, orWake: wakeUp)
            wakeUp.wake()
            try wakeUp.wait(upTo: Self.forever)
        }
        peer.close()
    }

    /// Two threads wake each other in turn: a wake-up that gets lost hangs both.
    @Test func noWakeUpIsLost() throws {
        let turns = Atomic(0)
        let count = 20_000
        let (peer, connection) = try RawPeer.withService()
        let (first, second) = (try ReplicaWakeUp(), try ReplicaWakeUp())
        let failures = Locked<[String]>([])
        let other = NamedThread("other")
        let shared = Shared(turns: turns)
        try other.start {
            do {
                for turn in stride(from: 1, to: count, by: 2) {
                    while shared.turns.load(ordering: .acquiring) < turn {
                        try second.wait(upTo: Self.forever)
                    }
                    shared.turns.store(turn + 1, ordering: .releasing)
                    first.wake()
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        for turn in stride(from: 0, to: count, by: 2) {
            while shared.turns.load(ordering: .acquiring) < turn {
                try connection.wait(upTo: Self.forever, orWake: first)
            }
            shared.turns.store(turn + 1, ordering: .releasing)
            second.wake()
        }
        other.join()
        #expect(failures.withLock { $0 } == [])
        peer.close()
    }

    @Test func whatCameAheadOfTheEndIsRead() throws {
        let (replica, connection) = try RawPeer.withService()
        // The replica has not read this: the system then says that the connection was reset.
        connection.send(.read(1))
        let bytes = GoldenWords.bytes(
            "09000000 45 0900000000000000 0a000000 4f 2000000000000000 74"
        )
        #expect(replica.send(bytes[...]) == bytes.count)
        replica.close()
        connection.send(.read(2))
        connection.send(.propose(term: 1, index: 1), body: [1, 2, 3].span)
        #expect(try connection.receive() == .readOK(9))
        #expect(try connection.receive() == .end(.replaced, text: "t"))
        for _ in 0..<2 { #expect(throws: ReplicaError.closed) { try connection.receive() } }
        #expect(connection.unsentByteCount == 0)
        // No wait hangs on what is gone.
        try connection.wait(upTo: Self.forever, orWake: ReplicaWakeUp())
    }

    @Test func aFrameThatEndsEarlyIsTheEnd() throws {
        let (replica, connection) = try RawPeer.withService()
        #expect(replica.send(GoldenWords.bytes("09000000 45 09000000")[...]) == 9)
        #expect(try connection.receive() == nil)
        replica.close()
        #expect(throws: ReplicaError.closed) { try connection.receive() }
    }

    @Test func aReplicaThatDoesNotReadIsAnErrorAtALimit() throws {
        let (replica, connection) = try RawPeer.withService()
        let body = [UInt8](repeating: 1, count: ReplicaLimits.bodyByteCount)
        for index in 1...8 {
            connection.send(.propose(term: 1, index: UInt64(index)), body: body.span)
            #expect(connection.unsentByteCount <= ReplicaLimits.unsentByteCount)
        }
        #expect(replica.send(GoldenWords.bytes("09000000 45 0900000000000000")[...]) == 13)
        #expect(try connection.receive() == .readOK(9))
        let error = #expect(throws: ReplicaError.self) { try connection.receive() }
        guard case .tooMuchUnsent(let byteCount, limit: ReplicaLimits.unsentByteCount) = error
        else {
            throw Unexpected(error)
        }
        #expect(byteCount > ReplicaLimits.unsentByteCount)
    }

    @Test func aSocketThatIsNotThereIsAnErrorWithItsPath() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/replica"
        #expect(throws: ReplicaError.cannotConnect(path: path, code: ENOENT)) {
            try ReplicaConnection(connectingTo: path)
        }
        let long = directory.path + "/" + String(repeating: "a", count: 200)
        #expect(throws: ReplicaError.pathTooLong(path: long, limit: 107)) {
            try ReplicaConnection(connectingTo: long)
        }
        #expect(
            ReplicaError.cannotConnect(path: "/run/r", code: ENOENT).description
                == "The replica cannot be reached at /run/r: No such file or directory (error 2)."
        )
    }

    /// The words of a node that serves take no memory, but for the bodies that come.
    @Test(.enabled(if: malloc_hook_is_active())) func wordsOfAVoteAllocateNothing() throws {
        let (replica, connection) = try RawPeer.withService()
        let wakeUp = try ReplicaWakeUp()
        let committed = GoldenWords.bytes(
            """
            11000000 42 0700000000000000 0201000000000000 09000000 45 0900000000000000 \
            11000000 47 0201000000000000 e803000000000000
            """
        )
        let body = [UInt8](repeating: 1, count: 4_096)
        func serve() throws {
            connection.send(.propose(term: 7, index: 258), body: body.span)
            connection.send(.read(9))
            connection.send(.durable(258))
            wakeUp.wake()
            try connection.wait(upTo: .zero, orWake: wakeUp)
            for _ in 0..<4 { _ = try connection.receive() }
        }
        for _ in 0..<3 {
            #expect(replica.send(committed[...]) == committed.count)
            try serve()
        }
        #expect(replica.send(committed[...]) == committed.count)
        let before = malloc_hook_count()
        try serve()
        #expect(malloc_hook_count() - before == 0)
    }
}

/// A number that two threads share.
private final class Shared: Sendable {
    let turns: Atomic<Int>

    init(turns: consuming Atomic<Int>) { self.turns = turns }
}
