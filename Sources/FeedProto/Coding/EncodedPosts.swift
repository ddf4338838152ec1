/// For services: posts of a page that are encoded once, to be sent to many callers.
public struct EncodedPosts: Equatable, Sendable {
    /// The posts as fields of a page, behind the room of a frame's header.
    let bytes: [UInt8]
    /// Where the fields of each post lie in the bytes.
    let bodies: [Range<Int>]

    /// Encodes posts, whose texts lie in `texts`, without what a caller has made of them.
    public init(_ posts: Span<PostFields>, texts: Span<UInt8>) {
        var encoder = FrameEncoder()
        bodies = encoder.append(bodiesOf: posts, texts: texts)
        bytes = encoder.bytes()
    }

    /// The bytes that the posts take.
    public var byteCount: Int { bytes.count + bodies.count * MemoryLayout<Range<Int>>.size }

    /// The most bytes that the posts take on a page, with what a caller has made of them: beside their
    /// fields the tags and lengths of a post and of a viewer, and three numbers.
    var maximumEncodedByteCount: Int {
        bytes.count + bodies.count * 5 * FieldWriter.numberByteCount
    }
}
