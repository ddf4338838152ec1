import FeedProto
import NIOCore

/// Makes answers of the bytes that a channel reads, in place.
final class ServerFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = ServerFrame

    private let scanner = FrameScanner()
    private var decoder = MessageDecoder()

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let (frame, end) = try firstFrame(in: buffer.readableBytesSpan) else {
            return .needMoreData
        }
        buffer.moveReaderIndex(forwardBy: end)
        context.fireChannelRead(wrapInboundOut(frame))
        return .continue
    }

    private func firstFrame(in bytes: RawSpan) throws -> (ServerFrame, end: Int)? {
        guard let body = try scanner.nextBody(in: bytes, at: 0) else { return nil }
        return (try decoder.decodeServerFrame(bytes.extracting(body)), body.upperBound)
    }
}

/// Makes bytes of the calls that are written to a channel.
final class ClientFrameEncoder: MessageToByteEncoder {
    typealias OutboundIn = ClientFrame

    func encode(data frame: ClientFrame, out: inout ByteBuffer) throws {
        out.writeBytes(try frame.encoded())
    }
}
