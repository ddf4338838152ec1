import FeedClientTransport
import FeedNetwork
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The transport of the build, without a client.
@Suite(.timeLimit(.minutes(10))) struct TransportTests {
    private typealias Log = AsyncStream<String>.Continuation

    /// What a connection tells its handler; a test says what follows.
    private final class Handler: Transport.Handler {
        private let log: Log
        var opened: (Transport.Connection) -> Void = { _ in }
        var received: ([UInt8]) -> ReadProgress = { ReadProgress(consumedByteCount: $0.count) }
        var ended: (Transport.Connection) -> Void = { $0.closeAfterFlush() }

        init(_ log: Log) { self.log = log }

        func connectionOpened(_ connection: Transport.Connection) { opened(connection) }

        func connection(_ connection: Transport.Connection, received bytes: RawSpan) -> ReadProgress
        {
            received(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
        }

        func connectionEndedInput(_ connection: Transport.Connection) {
            log.yield("end")
            ended(connection)
        }

        func connectionClosed(_ connection: Transport.Connection, reason: CloseReason) {
            log.yield("closed")
            log.finish()
        }
    }

    /// Connects on a thread of its own, gives `body` what the handler logs, and ends the thread.
    private func withConnection(
        to address: String,
        _ script: @escaping @Sendable (Handler, Log) -> Void,
        _ body: (AsyncStream<String>) async throws -> Void
    ) async throws {
        let address = try SocketAddress(parsing: address)
        let (events, log) = AsyncStream<String>.makeStream()
        let limits = ClientByteLimits(unconsumed: 16, unsent: 1024)
        let thread = try Transport.LoopThread(name: "test", limits: limits) { loop in
            let handler = Handler(log)
            script(handler, log)
            do {
                let timeout = Duration.seconds(600)
                try loop.connect(to: address, timeout: timeout, security: nil, handler: handler)
            } catch {
                log.finish()
            }
        }
        try await body(events)
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    @Test func theEndComesAfterAllBytes() async throws {
        let service = try await ScriptedService.start { _ in [.bytes(Array("abc".utf8))] }
        let frame = try ClientFrame(id: 1, request: .ping(PingRequest())).encoded()
        let hasEnded = DispatchSemaphore(value: 0)
        try await withConnection(to: service.address) { handler, log in
            handler.opened = {
                unsafe $0.write(frame.span.bytes)
                $0.requestIteration()
            }
            var hasWaited = false
            handler.received = { bytes in
                // So that the bytes and the end come together.
                if !hasWaited { hasEnded.wait() }
                hasWaited = true
                guard let byte = bytes.first else { return ReadProgress(consumedByteCount: 0) }
                log.yield(String(UnicodeScalar(byte)))
                return ReadProgress(consumedByteCount: 1, wantsIteration: true)
            }
        } _: { events in
            for await _ in service.received { break }
            await service.stop()
            hasEnded.signal()
            let seen = await events.reduce(into: []) { $0.append($1) }
            #expect(seen == ["a", "b", "c", "end", "closed"])
        }
    }

    @Test func whatComesWithAFailedWriteIsShownBehindIt() async throws {
        let port = try ReservedPort()
        try port.listen()
        let hasReset = DispatchSemaphore(value: 0)
        try await withConnection(to: port.address) { handler, log in
            var isWriting = false
            var unwritten: Transport.Connection?
            handler.opened = { unwritten = $0 }
            handler.received = { bytes in
                if isWriting { log.yield("within the write") }
                if let connection = unwritten.take() {
                    log.yield("received")
                    hasReset.wait()
                    isWriting = true
                    unsafe connection.write([UInt8]([7]).span.bytes)
                    isWriting = false
                }
                return ReadProgress(consumedByteCount: bytes.count)
            }
        } _: { events in
            let peer = try await offload { try port.accept() }
            try peer.send([1])
            for await event in events {
                #expect(event == "received")
                break
            }
            try peer.send([2, 3])
            peer.reset()
            hasReset.signal()
            #expect(await events.reduce(into: []) { $0.append($1) } == ["closed"])
        }
    }

    @Test func whatWasWrittenIsSentAlsoAfterThePeersEnd() async throws {
        let port = try ReservedPort()
        try port.listen()
        let bytes = [UInt8](repeating: 7, count: 16 << 20)
        try await withConnection(to: port.address) { handler, _ in
            handler.ended = {
                unsafe $0.write(bytes.span.bytes)
                $0.closeAfterFlush()
            }
        } _: { events in
            let peer = try await offload { try port.accept() }
            peer.shutDownSending()
            for await _ in events { break }
            let count = try await offload { try peer.receiveUntilEndOfFile().count }
            #expect(count == bytes.count)
        }
    }

    @Test(arguments: [4, 5, 6, 7, 8])
    func aProcessWithoutDescriptorsIsTold(count: Int) async throws {
        let program = Programs.feedService.deletingLastPathComponent()
            .appending(path: "FirstClient").path()
        // The tests may have been started with more than three descriptors open.
        let others = (3...9).map { "\($0)<&-" }.joined(separator: " ")
        let client = try RunningProcess(
            URL(filePath: "/bin/sh"),
            ["-c", "exec \(others); ulimit -n \(count) && exec '\(program)' 127.0.0.1:1"]
        )
        let (_, output) = await client.finish()
        #expect(output.contains { $0.contains("Too many open files: raise") }, "\(output)")
    }
}
