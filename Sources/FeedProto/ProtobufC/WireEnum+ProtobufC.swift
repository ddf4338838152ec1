// protobuf-c's enums are unsigned in Swift and hold any 32 bits from the wire.
extension WireEnum {
    /// The value of a C enum.
    @inline(__always)
    init(_ value: some RawRepresentable<UInt32>) {
        self.init(rawValue: Int32(bitPattern: value.rawValue))
    }

    /// The value as a C enum.
    @inline(__always)
    func cValue<CEnum: RawRepresentable<UInt32>>() -> CEnum {
        guard let value = CEnum(rawValue: UInt32(bitPattern: rawValue)) else {
            preconditionFailure("A C enum takes any number.")
        }
        return value
    }
}
