/// The bytes of a commit batch's body, with one owner: no reference count while entries are read.
@safe
struct LogBytes: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    let count: Int

    init(copying body: borrowing Span<UInt8>) {
        count = body.count
        unsafe base = .allocate(capacity: count)
        unsafe body.withUnsafeBufferPointer { source in
            if let first = source.baseAddress {
                unsafe base.initialize(from: first, count: source.count)
            }
        }
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The byte at an offset; traps beyond the count.
    subscript(offset: Int) -> UInt8 {
        @inline(__always) get {
            precondition(UInt(bitPattern: offset) < UInt(bitPattern: count), "Beyond the body.")
            return unsafe base[offset]
        }
    }

    /// The text of a range of UTF-8; nil where it is none.
    ///
    /// Traps beyond the count.
    func text(_ range: Range<Int>) -> String? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Beyond the body.")
        let bytes = unsafe Span(_unsafeStart: base + range.lowerBound, count: range.count)
        // Not `String(validating:as:)`: it looks up metadata for each text, ten times the time.
        guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
        return String(copying: utf8)
    }
}
