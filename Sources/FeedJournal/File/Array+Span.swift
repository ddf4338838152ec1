extension [UInt8] {
    /// A copy of bytes, to be kept; O(n).
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
