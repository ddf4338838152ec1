/// The 16 bytes that identify a device.
package struct Device16: Hashable, BitwiseCopyable, Sendable {
    /// The first eight bytes.
    package var high: UInt64
    /// The last eight bytes.
    package var low: UInt64

    /// A device of these bytes.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
