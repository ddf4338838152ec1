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

    /// Adds a copy of `bytes`.
    ///
    /// O(n), amortised.
    package mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}
