import FeedProto
import NIOCore
import NIOPosix

/// One connection to a feed service that makes one call after another.
struct FeedConnection {
    typealias Channel = NIOAsyncChannel<ServerFrame, ClientFrame>

    private var answers: NIOAsyncChannelInboundStream<ServerFrame>.AsyncIterator
    private let calls: NIOAsyncChannelOutboundWriter<ClientFrame>
    private var lastID: UInt64 = 0

    /// Connects, lends the connection to `body`, and closes it.
    static func with(
        host: String,
        port: Int,
        _ body: @Sendable (inout FeedConnection) async throws -> Void
    ) async throws {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(ServerFrameDecoder()),
                        MessageToByteHandler(ClientFrameEncoder())
                    )
                    return try Channel(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { answers, calls in
            var connection = FeedConnection(answers: answers.makeAsyncIterator(), calls: calls)
            try await body(&connection)
        }
    }

    /// Sends a request and waits for its answer; a failure is thrown as its `Status`.
    mutating func call(_ request: Request) async throws -> Response {
        lastID += 1
        try await calls.write(ClientFrame(id: lastID, request: request))
        while let answer = try await answers.next() {
            // What has id 0 is about the connection: a refusal, or that it will close.
            guard answer.id == lastID || answer.id == 0 else { continue }
            if let status = answer.status { throw status }
            if answer.id == lastID, let response = answer.response { return response }
        }
        throw Unexpected(what: "The service closed the connection.")
    }
}

/// An answer that is not what it should be.
struct Unexpected: Error, CustomStringConvertible {
    let what: String

    var description: String { what }
}
