extension FixedWidthInteger {
    /// The sum, or the nearest number of the type: a service or a file may say any numbers.
    func addingClamped(_ other: Self) -> Self {
        let (sum, isOutside) = addingReportingOverflow(other)
        guard isOutside else { return sum }
        return other < 0 ? .min : .max
    }
}

extension UInt64 {
    /// The product, or the greatest number where the product exceeds it.
    func multipliedClamped(by factor: UInt64) -> UInt64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: factor)
        return isTooLarge ? .max : product
    }
}

extension Sequence<UInt64> {
    /// The sum, or the greatest number where the sum exceeds it.
    package var clampedSum: UInt64 { reduce(0) { $0.addingClamped($1) } }
}
