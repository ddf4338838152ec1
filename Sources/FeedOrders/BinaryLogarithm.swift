/// Logarithms and powers to the base 2 in integers: the same bits on every platform.
///
/// C libraries differ in the last bits of theirs, and so in the order of posts that are close. Each value
/// is one of a table, which is computed bit by bit, and a series for the rest.
enum BinaryLogarithm {
    /// The bits behind the point of `of(_:)`.
    static let fractionBitCount = 57

    /// A 256th of the numbers from 1 to 2.
    private struct Segment {
        /// Of its middle, with 64 bits behind the point.
        let inverse: UInt64
        /// Of the inverse's own inverse, with 63 bits.
        let logarithm: Int64
    }

    private static let segments: [Segment] = (0..<256).map { number in
        let inverse = UInt64((UInt128(512) << 64) / UInt128(513 + 2 * number))
        // The exact one has 120 bits behind the point, and a number below 2^64 stands for one below 1.
        let logarithm = (UInt128(64) << 120) - exact(inverse)
        return Segment(inverse: inverse, logarithm: Int64(logarithm >> 57))
    }

    /// 2^(n/256), with 63 bits behind the point.
    private static let powers: [UInt64] = (0..<256).map { number in
        1 << 63 + exponential(UInt64(number) << 56, termCount: 22) >> 1
    }

    /// ln 2, and log2 e - 1, with 64 bits behind the point.
    private static let ln2: UInt64 = 0xB172_17F7_D1CF_79AB
    private static let log2e: Int64 = 0x7154_7652_B82F_E177

    /// The logarithm of a number from 1 on, with 57 bits behind the point; wrong by less than 2^-56.
    ///
    /// O(1), without a branch.
    @inline(__always)
    static func of(_ number: UInt64) -> Int64 {
        let shift = number.leadingZeroBitCount
        let mantissa = number << UInt64(shift)
        let segment = segments[Int(truncatingIfNeeded: mantissa >> 55 & 255)]
        // What remains is within 2^-9 of 1; with 64 bits behind the point it has a sign.
        let product = mantissa.multipliedFullWidth(by: segment.inverse)
        let rest = Int64(bitPattern: product.high << 1 | product.low >> 63)
        // ln(1 + r) = r - r (r/2 - r (r/3 - …)); the first term that is left out is below 2^-65.
        var series: Int64 = 0
        for divisor in stride(from: 6, to: 1, by: -1) as StrideTo<Int64> {
            series = multiply(rest, .max / divisor &- series)
        }
        let natural = rest &- multiply(rest, series) << 1
        let fraction = (natural &+ multiply(natural, log2e)) >> 1 &+ segment.logarithm
        return Int64(truncatingIfNeeded: 63 &- shift) << 57 &+ fraction >> 6
    }

    /// A number from 1 on to the power of another one from 0 to 1; O(1).
    ///
    /// Before it is rounded it is wrong by less than 2^-3 of the last place, so a power that is a `Double` is
    /// exact.
    static func power(_ base: UInt64, _ exponent: Double) -> Double {
        guard exponent < 1, base > 1 else { return Double(base) }
        let share = UInt64(exponent * 0x1p64)
        let logarithm = UInt64(bitPattern: of(base)).multipliedFullWidth(by: share).high
        let power = powers[Int(truncatingIfNeeded: logarithm >> 49 & 255)]
        let rest = exponential((logarithm & (1 << 49 - 1)) << 7, termCount: 5)
        let mantissa = power &+ power.multipliedFullWidth(by: rest).high
        let exponent = UInt64(1_023 - 63) &+ logarithm >> 57
        return Double(mantissa) * Double(bitPattern: exponent << 52)
    }

    /// 2^x - 1 of a number with 64 bits behind the point, in so many terms of the series.
    @inline(__always)
    private static func exponential(_ number: UInt64, termCount: UInt64) -> UInt64 {
        let natural = number.multipliedFullWidth(by: ln2).high
        // e^x - 1 = x (1 + x/2 (1 + x/3 (…))).
        var series: UInt64 = 0
        for divisor in stride(from: termCount, to: 0, by: -1) {
            let part = natural / divisor
            series = part &+ part.multipliedFullWidth(by: series).high
        }
        return series
    }

    /// The product of numbers, one with 64 bits behind the point; rounded down.
    @inline(__always)
    private static func multiply(_ left: Int64, _ right: Int64) -> Int64 {
        left.multipliedFullWidth(by: right).high
    }

    /// The logarithm of a number from 1 on, with 120 bits behind the point, too low by less than 2^-119;
    /// about a microsecond.
    static func exact(_ number: UInt64) -> UInt128 {
        let exponent = 63 - number.leadingZeroBitCount
        // Each squaring of what lies between 1 and 2, with 127 bits behind the point, gives the next bit.
        var logarithm = UInt128(exponent)
        var mantissa = UInt128(number) << UInt128(127 - exponent)
        for _ in 0..<120 {
            let square = mantissa.multipliedFullWidth(by: mantissa)
            let isTwoOrMore = square.high >> 127 == 1
            logarithm = logarithm << 1 | (isTwoOrMore ? 1 : 0)
            mantissa = isTwoOrMore ? square.high : square.high << 1 | square.low >> 127
        }
        return logarithm
    }
}
