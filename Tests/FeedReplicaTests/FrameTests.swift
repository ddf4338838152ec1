import FakeReplica
import FeedReplica
import FeedTestSupport
import Testing

/// Words as bytes: those that never change, those of chance, and those that nobody may send.
@Suite(.timeLimit(.minutes(10))) struct FrameTests {
    @Test func everyKindHasGoldenBytes() {
        let kinds = (GoldenWords.ofService.map(\.bytes) + GoldenWords.ofReplica.map(\.bytes))
            .map { GoldenWords.bytes($0)[4] }
        #expect(Set(kinds) == Set(FrameKind.allCases.map(\.rawValue)))
        #expect(FrameKind.allCases.map(\.rawValue) == Array(1...9) + Array(64...79))
    }

    @Test(arguments: GoldenWords.ofService.indices)
    func wordsOfAServiceHaveTheirBytes(_ place: Int) throws {
        let (word, body, text) = GoldenWords.ofService[place]
        let bytes = GoldenWords.bytes(text)
        let batch = Array(body.utf8)
        let (replica, connection) = try RawPeer.withService()
        connection.send(word, body: batch.span)
        #expect(replica.receive(bytes.count + 1) == bytes)

        let (service, socket) = try RawPeer.withReplica()
        for (count, byte) in bytes.enumerated() {
            let early = try socket.next()
            #expect(early == nil, "A frame was whole after \(count) bytes.")
            #expect(service.send([byte]) == 1)
        }
        let frame = try #require(try socket.next())
        let tail = socket.tail(of: frame)
        #expect(try ServiceWord(frame, tail: tail) == word)
        if case .propose = word { #expect(tail == batch) }
    }

    @Test(arguments: GoldenWords.ofReplica.indices)
    func wordsOfAReplicaHaveTheirBytes(_ place: Int) throws {
        let (word, text) = GoldenWords.ofReplica[place]
        let bytes = GoldenWords.bytes(text)
        let (service, socket) = try RawPeer.withReplica()
        socket.send(word)
        #expect(service.receive(bytes.count + 1) == bytes)

        let (replica, connection) = try RawPeer.withService()
        for byte in bytes {
            #expect(try connection.receive() == nil)
            #expect(replica.send([byte]) == 1)
        }
        #expect(try connection.receive() == word)
        #expect(try connection.receive() == nil)
    }

    @Test(arguments: TestEnvironment.seeds(1...20))
    func wordsOfAReplicaComeInAnyPieces(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var words = RandomWords(random: random, longestTail: seed % 4 == 0 ? 300_000 : 200)
        let expected = (0..<100).map { _ in words.replicaWord() }
        let (service, socket) = try RawPeer.withReplica()
        let (replica, connection) = try RawPeer.withService()
        var found: [ReplicaWord] = []
        for word in expected {
            // The bytes of a socket go into the other one, in pieces.
            socket.send(word)
            var isSent = false
            while !isSent {
                let piece = service.receive(Int.random(in: 1...100_000, using: &random))
                isSent = piece.isEmpty && socket.unsentByteCount == 0
                var sent = 0
                while sent < piece.count {
                    sent += replica.send(piece[sent...])
                    if random.oneIn(2) || sent < piece.count {
                        while let word = try connection.receive() { found.append(word) }
                    }
                }
                try socket.wait(upTo: .zero, orWake: ReplicaWakeUp())
            }
        }
        while let word = try connection.receive() { found.append(word) }
        #expect(found == expected, "seed \(seed)")
        #expect(connection.receiveBufferByteCount <= 1 << 20)
    }

    @Test(arguments: TestEnvironment.seeds(1...20))
    func wordsOfAServiceAreSentInAnyPieces(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var words = RandomWords(random: random, longestTail: seed % 4 == 0 ? 300_000 : 200)
        let expected = (0..<100).map { _ in words.serviceWord() }
        let (replica, connection) = try RawPeer.withService(sendBufferByteCount: 4_096)
        let (service, socket) = try RawPeer.withReplica()
        let wakeUp = try ReplicaWakeUp()
        var found: [(word: ServiceWord, tail: [UInt8])] = []
        func takeFrames() throws {
            while let frame = try socket.next() {
                let tail = socket.tail(of: frame)
                found.append((try ServiceWord(frame, tail: tail), tail))
            }
        }
        func move() throws {
            let piece = replica.receive(Int.random(in: 1...100_000, using: &random))
            var sent = 0
            while sent < piece.count {
                sent += service.send(piece[sent...])
                try takeFrames()
            }
            try connection.wait(upTo: .zero, orWake: wakeUp)
        }
        for (word, body) in expected {
            connection.send(word, body: body.span)
            if random.oneIn(3) { try move() }
        }
        while found.count < expected.count { try move() }
        #expect(connection.unsentByteCount == 0)
        #expect(found.map(\.word) == expected.map(\.0), "seed \(seed)")
        for (found, expected) in zip(found, expected) {
            if case .propose = found.word { #expect(found.tail == expected.body, "seed \(seed)") }
        }
    }

    /// Bytes, and what the error says of them.
    private static let wrong: [(bytes: String, kind: String, what: String)] = [
        ("00000000 41", "ENTRY", "expected 25 to 8388633 bytes, got 0"),
        ("01000000 00", "0", "expected 64 to 79"),
        ("01000000 50", "80", "expected 64 to 79"),
        // What only a service says.
        ("09000000 03 0201000000000000", "3", "expected 64 to 79"),
        ("08000000 45 00000000000000", "READ_OK", "expected 9 to 9 bytes, got 8"),
        ("0a000000 45 0000000000000000 00", "READ_OK", "expected 9 to 9 bytes, got 10"),
        ("1a008000 41", "ENTRY", "expected 25 to 8388633 bytes, got 8388634"),
        ("ffffffff 41", "ENTRY", "expected 25 to 8388633 bytes, got 4294967295"),
        ("0a100000 4f 0000000000000000", "END", "expected 9 to 4105 bytes, got 4106"),
        ("09000000 4c 0000000000000000", "INSTALL", "expected 10 to 4105 bytes, got 9"),
        (
            "19000000 41 0201000000000000 0700000000000000 0300000000000000", "ENTRY",
            "kind of entry 3, which version 1 lacks"
        ),
        (
            "1a000000 41 0201000000000000 0700000000000000 0200000000000000 00", "ENTRY",
            "expected no bytes for kind of entry 2, got 1"
        ),
        (
            "21000000 43 0200000000000000 0700000000000000 0200000000000000 0201000000000000",
            "ROLE", "expected 1 or 0 for who leads, got 2"
        ),
        (
            "19000000 44 0700000000000000 0201000000000000 0900000000000000", "REFUSED",
            "reason 9, which version 1 lacks"
        ),
        (
            "11000000 49 0400000000000000 0200000000000000", "MEMBER_WANTED",
            "change 4, which version 1 lacks"
        ),
        ("09000000 4f 1f00000000000000", "END", "reason 31, which version 1 lacks"),
    ]

    @Test(arguments: wrong.indices)
    func aWrongFrameIsAnErrorWithItsKind(_ place: Int) throws {
        let (text, kind, what) = Self.wrong[place]
        let bytes = GoldenWords.bytes(text)
        let (replica, connection) = try RawPeer.withService()
        #expect(replica.send(bytes[...]) == bytes.count)
        #expect(throws: ReplicaError.badFrame(kind: kind, what: what)) {
            try connection.receive()
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...300))
    func anyBytesAreReadSafely(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var words = RandomWords(random: random, longestTail: 40)
        let (service, socket) = try RawPeer.withReplica()
        // Good words with some bytes changed, or bytes without any form.
        var bytes = random.bytes(200)
        if seed % 4 != 0 {
            for _ in 0..<20 { socket.send(words.replicaWord()) }
            bytes = service.receive(1 << 20)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
        }
        let (replica, connection) = try RawPeer.withService()
        #expect(replica.send(bytes[...]) == bytes.count)
        replica.close()
        do {
            while try connection.receive() != nil {}
            Issue.record("The end of the socket is no error: seed \(seed).")
        } catch .closed {
            // What was changed was a number or a text.
        } catch .badFrame {
            // And it is told again, as it is never taken.
            #expect(throws: ReplicaError.self) { try connection.receive() }
        }
        #expect(
            connection.receiveBufferByteCount <= ReplicaLimits.frameByteCount + 4,
            "seed \(seed)"
        )
    }

    @Test func aFrameTakesItsMemoryOnceItsHeadIsRight() throws {
        let (replica, connection) = try RawPeer.withService()
        #expect(replica.send(GoldenWords.bytes("19008000 41")[...]) == 5)
        #expect(try connection.receive() == nil)
        #expect(connection.receiveBufferByteCount == ReplicaLimits.bodyByteCount + 25 + 4)
        // Behind it the memory is given back.
        var left = ReplicaLimits.bodyByteCount + 24
        while left > 0 {
            left -= replica.send([UInt8](repeating: 0, count: min(left, 1 << 16))[...])
            if left > 0 { #expect(try connection.receive() == nil) }
        }
        let body = [UInt8](repeating: 0, count: ReplicaLimits.bodyByteCount)
        let entry = try connection.receive()
        #expect(entry == .entry(index: 0, term: 0, .batch, body: body))
        #expect(try connection.receive() == nil)
        #expect(connection.receiveBufferByteCount == 64 << 10)
    }
}
