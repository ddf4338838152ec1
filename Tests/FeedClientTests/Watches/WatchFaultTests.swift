import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Watches that cannot begin.
@Suite(.timeLimit(.minutes(10)))
struct WatchFaultTests {
    /// Says how long a frame may be, and answers votes once there are two.
    private static func script(frameByteCount: UInt32) -> ScriptedService.Script {
        let held = Locked<[ClientFrame]>([])
        return { frame in
            if case .hello = frame.request {
                let hello = ScriptedService.hello(inFlight: 256, frameByteCount: frameByteCount)
                return [.answer(ServerFrame(id: frame.id, revision: 0, response: hello))]
            }
            return held.withLock { held in
                held.append(frame)
                return held.count < 2 ? [] : held.map(voteAnswer)
            }
        }
    }

    @Test(
        "a watch that does not fit into a frame ends, and a vote in flight is answered",
        arguments: [1_024, 1 << 20]
    )
    func endsAlone(limit: Int) async throws {
        let script = Self.script(frameByteCount: UInt32(limit))
        try await withScript(answersHello: false, script) { client, service in
            async let first = client.vote(on: 1, .up)
            var frames = service.received.makeAsyncIterator()
            _ = await frames.next()
            // The vote is in flight.
            _ = await frames.next()
            for watch in [
                PostWatch(.posts([UInt64](repeating: .max, count: limit / 8))),
                PostWatch(.top(5), in: String(repeating: "x", count: limit)),
            ] {
                var iterator = client.watch(watch).makeAsyncIterator()
                let error = await failure { try await iterator.next() }
                guard case .requestTooLarge(let byteCount, limit) = error else {
                    Issue.record("A watch over the limit ended with \(String(describing: error))")
                    return
                }
                #expect(byteCount > limit)
                #expect(try await iterator.next() == nil)
            }
            // A script that got a WatchPosts would reset the connection.
            let second = try await client.vote(on: 2, .up)
            #expect(second.postID == 2)
            let answered = try await first.postID
            #expect(answered == 1)
        }
    }
}
