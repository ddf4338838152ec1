internal import FeedSpans

/// The codec in Swift.
package enum SwiftCodec {
    static var usesProtobufC: Bool { false }

    package struct Decoder: BodyDecoder, ~Copyable {
        private var tree: MessageTree
        /// Has the call whose hash is taken.
        private var writer = MessageWriter()

        package init(limitByteCount: Int) { tree = MessageTree(limitByteCount: limitByteCount) }

        package var reservedByteCount: Int { tree.reservedByteCount + writer.bytes.capacity }

        package mutating func clientFrame(_ body: RawSpan) throws(MessageError) -> ClientFrame {
            try tree.read(ClientFrameShape.self, in: body)
            return try ClientFrame(MessageTree.root, in: tree)
        }

        package mutating func serverFrame(_ body: RawSpan) throws(MessageError) -> ServerFrame {
            try tree.read(ServerFrameShape.self, in: body)
            return try ServerFrame(MessageTree.root, in: tree)
        }

        package mutating func contentHash() -> UInt32 {
            tree.writeMember(of: ClientFrameShape.self, to: &writer)
            return RequestHash.ofContent(writer.bytes, field: tree.member(MessageTree.root))
        }

        package mutating func overwrite() {
            tree.overwrite()
            writer.overwrite()
        }

        package mutating func reset() {
            tree.reset()
            writer.removeAll()
        }
    }

    package struct Encoder: BodyEncoder, ~Copyable {
        private var writer = MessageWriter()

        package init() {}

        package mutating func append(
            _ frame: ClientFrame,
            to output: inout OutputBuffer,
            limit: Int
        ) throws(FrameError) {
            frame.write(to: &writer)
            try moveMessage(to: &output, limit)
        }

        package mutating func append(
            _ frame: ServerFrame,
            to output: inout OutputBuffer,
            limit: Int
        ) throws(FrameError) {
            frame.write(to: &writer)
            try moveMessage(to: &output, limit)
        }

        package mutating func byteCount(of status: Status) -> Int {
            defer { writer.removeAll() }
            status.write(to: &writer)
            return writer.bytes.count
        }

        package mutating func append(_ status: Status, to writer: inout FieldWriter) {
            defer { self.writer.removeAll() }
            status.write(to: &self.writer)
            writer.result(of: self.writer.bytes.span)
        }

        package mutating func overwrite() { writer.overwrite() }

        /// Appends the message that was written, with a header.
        private mutating func moveMessage(
            to output: inout OutputBuffer,
            _ limit: Int
        ) throws(FrameError) {
            defer { writer.removeAll() }
            let length = writer.bytes.count
            guard length > 0 else { throw .empty }
            guard length <= limit else { throw .tooLarge(length: UInt64(length), limit: limit) }
            output.append(frame: writer.bytes.span)
        }
    }
}
