/// Draws one of many values with given weights: one random number, one multiplication and one read.
///
/// The alias method (A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with
/// General Distributions", ACM TOMS 3.3, 1977), with the table made in linear time (M. D. Vose, "A
/// Linear Algorithm for Generating Random Numbers with a Given Distribution", IEEE TSE 17.9, 1991).
/// Each place has the same share and holds two values. A draw is as exact as 2^-32 of a place.
package struct AliasTable: Sendable {
    private struct Place: Sendable {
        /// The share of `value` in the place, in 2^-32.
        var share: UInt32
        let value: UInt32
        var other: UInt32
    }

    private var places: [Place]

    /// A table of `values` with positive `weights`, one for each; O(n), 12 bytes a value.
    package init(_ values: [UInt32], weights: [Double]) {
        precondition(!values.isEmpty && values.count == weights.count, "Each value has a weight.")
        let unit = Double(values.count) / weights.reduce(0, +)
        var shares = weights.map { $0 * unit }
        places = values.map { Place(share: .max, value: $0, other: $0) }
        var poor = shares.indices.filter { shares[$0] < 1 }
        var rich = shares.indices.filter { shares[$0] >= 1 }
        while let lower = poor.popLast(), let upper = rich.popLast() {
            places[lower].share = UInt32(shares[lower] * 0x1p32)
            places[lower].other = places[upper].value
            shares[upper] -= 1 - shares[lower]
            if shares[upper] < 1 { poor.append(upper) } else { rich.append(upper) }
        }
        // What is left differs from a whole place by rounding alone.
    }

    /// The next value of `stream`.
    @inline(__always)
    package func next(_ stream: inout RandomStream) -> UInt32 {
        let (high, low) = stream.next().multipliedFullWidth(by: UInt64(places.count))
        let place = places[Int(truncatingIfNeeded: high)]
        return UInt32(truncatingIfNeeded: low >> 32) < place.share ? place.value : place.other
    }

    /// The probability of each place's values, for tests: by value, in no order.
    package var probabilities: [UInt32: Double] {
        var sums: [UInt32: Double] = [:]
        for place in places {
            let share = place.value == place.other ? 1 : Double(place.share) / 0x1p32
            sums[place.value, default: 0] += share / Double(places.count)
            sums[place.other, default: 0] += (1 - share) / Double(places.count)
        }
        return sums
    }
}
