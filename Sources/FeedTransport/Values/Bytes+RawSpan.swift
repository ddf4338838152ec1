extension [UInt8] {
    /// Calls `body` with the bytes, without copying them; the first `dropCount` bytes are left out.
    // Declared here because the standard library marks a span's raw bytes unsafe; for bytes they
    // are safe.
    package func withRawSpan<Result>(
        droppingFirst dropCount: Int = 0,
        _ body: (RawSpan) -> Result
    ) -> Result {
        unsafe body(span.bytes.extracting(droppingFirst: dropCount))
    }

    package mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// Removes all bytes and overwrites the memory of the array, which keeps it.
    ///
    /// O(capacity). The array must not share its memory with another one.
    package mutating func overwrite() {
        removeAll(keepingCapacity: true)
        append(contentsOf: repeatElement(0, count: capacity))
        removeAll(keepingCapacity: true)
    }

    /// Makes room for more bytes, and overwrites the memory that the array outgrows, which may have a
    /// part of a secret.
    mutating func makeRoom(for byteCount: Int) {
        guard count + byteCount > capacity, capacity > 0 else { return }
        var grown: [UInt8] = []
        grown.reserveCapacity(Swift.max(count + byteCount, 2 * capacity))
        withRawSpan { grown.append(copying: $0) }
        overwrite()
        self = grown
    }
}
