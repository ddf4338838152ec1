extension [UInt8] {
    /// Calls `body` with the bytes, without copying them; `dropCount` of the first are left out.
    // Here, as the standard library marks a span's raw bytes unsafe; for bytes they are not.
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

extension TCPConnection {
    /// Sends the bytes of an array; see ``write(_:)-(RawSpan)``.
    package func write(_ bytes: [UInt8]) {
        bytes.withRawSpan { write($0) }
    }
}
