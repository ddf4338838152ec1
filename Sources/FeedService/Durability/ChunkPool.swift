/// Empty chunks of memory that the held answers of one loop use again.
struct ChunkPool {
    /// The size of a chunk: the answers of some thousand votes.
    private static let chunkByteCount = 64 * 1_024
    /// The chunks that are kept: 8 MiB.
    private static let keptChunkCount = 128

    private var chunks: [[UInt8]] = []

    /// An empty chunk with room for some bytes: a kept one, or new memory.
    mutating func takeChunk(fitting byteCount: Int) -> [UInt8] {
        if byteCount <= Self.chunkByteCount, let chunk = chunks.popLast() { return chunk }
        var chunk: [UInt8] = []
        chunk.reserveCapacity(max(byteCount, Self.chunkByteCount))
        return chunk
    }

    /// Keeps the memory of chunks that were sent, and empties their list.
    ///
    /// The pool then has twice as many as were sent, or one less than before where that is more.
    mutating func keep(_ sent: inout [[UInt8]]) {
        let count = min(Self.keptChunkCount, max(2 * sent.count, chunks.count - 1))
        while var chunk = sent.popLast() {
            guard chunks.count < count, chunk.capacity < 2 * Self.chunkByteCount else { continue }
            chunk.removeAll(keepingCapacity: true)
            chunks.append(chunk)
        }
        while chunks.count > count { chunks.removeLast() }
    }
}
