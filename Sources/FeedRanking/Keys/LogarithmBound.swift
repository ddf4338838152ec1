/// Upper bounds of logarithms, without a call of the C library.
enum LogarithmBound {
    /// A number that is not below the logarithm to the base 2 of a number from 1 on, and at most
    /// 0.0154 above it.
    ///
    /// The logarithm of 1 + f lies between 0.0073 below and 0.008 above f * (1.3446 - 0.3446 f), a
    /// parabola with the logarithm's values at 0 and 1.
    @inline(__always)
    static func log2(_ value: Double) -> Double {
        let bits = value.bitPattern
        let fraction = Double(bitPattern: bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000) - 1
        let exponent = Double(Int64(bitPattern: bits >> 52) &- 1_023)
        return exponent + 0.008 + fraction * (1.3446 - 0.3446 * fraction)
    }
}
