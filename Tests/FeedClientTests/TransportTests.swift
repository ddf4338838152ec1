import FeedClientTransport
import FeedNetwork
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The transport of the build, without a client.
@Suite(.timeLimit(.minutes(10))) struct TransportTests {
    @Test func aProcessWithoutDescriptorsIsTold() async throws {
        let program = Programs.feedService.deletingLastPathComponent()
            .appending(path: "FirstClient").path()
        let client = try RunningProcess(
            URL(filePath: "/bin/sh"),
            ["-c", "ulimit -n 5 && exec '\(program)' 127.0.0.1:1"]
        )
        let (_, output) = await client.finish()
        #expect(output.contains { $0.contains("Too many open files: raise") }, "\(output)")
    }

    @Test func theEndComesAfterAllBytes() async throws {
        let service = try await ScriptedService.start { _ in [.bytes(Array("abc".utf8))] }
        let address = try SocketAddress(parsing: service.address)
        let frame = try ClientFrame(id: 1, request: .ping(PingRequest())).encoded()
        let (events, log) = AsyncStream<String>.makeStream()
        let hasEnded = DispatchSemaphore(value: 0)
        let limits = ClientByteLimits(unconsumed: 16, unsent: 1024)
        let thread = try Transport.LoopThread(name: "test", limits: limits) { loop in
            let handler = SlowHandler(frame, hasEnded, log)
            let timeout = Duration.seconds(600)
            let isTried: Void? = try? loop.connect(
                to: address,
                timeout: timeout,
                security: nil,
                handler: handler
            )
            if isTried == nil { log.finish() }
        }
        for await _ in service.received { break }
        await service.stop()
        hasEnded.signal()
        #expect(await events.reduce(into: []) { $0.append($1) } == ["a", "b", "c", "end"])
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }
}

/// Reads nothing before the peer has ended its side, and then takes a byte an iteration.
private final class SlowHandler: Transport.Handler {
    private let frame: [UInt8]
    private let hasEnded: DispatchSemaphore
    private let log: AsyncStream<String>.Continuation
    private var hasWaited = false

    init(
        _ frame: [UInt8],
        _ hasEnded: DispatchSemaphore,
        _ log: AsyncStream<String>.Continuation
    ) {
        self.frame = frame
        self.hasEnded = hasEnded
        self.log = log
    }

    func connectionOpened(_ connection: Transport.Connection) {
        let frame = frame
        unsafe connection.write(frame.span.bytes)
        connection.requestIteration()
    }

    func connection(_ connection: Transport.Connection, received bytes: RawSpan) -> ReadProgress {
        if !hasWaited { hasEnded.wait() }
        hasWaited = true
        guard let byte = unsafe bytes.withUnsafeBytes({ unsafe $0.first }) else {
            return ReadProgress(consumedByteCount: 0)
        }
        log.yield(String(UnicodeScalar(byte)))
        return ReadProgress(consumedByteCount: 1, wantsIteration: true)
    }

    func connectionEndedInput(_ connection: Transport.Connection) {
        log.yield("end")
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: Transport.Connection, reason: CloseReason) { log.finish() }
}
