/// A number of a report that no run has.
///
/// A file may have any number, and one outside its limits would trap where it is converted or added.
struct ReportFault: Error, CustomStringConvertible {
    /// What the member takes and what it has, in one sentence.
    let description: String

    /// Checks that the value of `member` is within `limits`; nil is a member that is not there.
    static func check<Value: Comparable>(
        _ member: String,
        _ value: Value?,
        _ limits: ClosedRange<Value>
    ) throws(ReportFault) {
        guard let value, !limits.contains(value) else { return }
        let range = "\(text(limits.lowerBound)) to \(text(limits.upperBound))"
        throw ReportFault(description: "\(member): expected \(range), got \(text(value)).")
    }

    /// Whole numbers without a fraction.
    private static func text(_ value: some Comparable) -> String {
        (value as? Double).flatMap { Int64(exactly: $0) }.map { "\($0)" } ?? "\(value)"
    }
}

extension JSONValue {
    /// The number `key` of an object, which is called `place` in an error; 0 where there is none.
    func number(
        _ key: String,
        _ limits: ClosedRange<Double>,
        in place: String
    ) throws(ReportFault) -> Double {
        guard let value = self[key]?.double else { return 0 }
        try ReportFault.check("\(place).\(key)", value, limits)
        return value
    }

    /// The count `key` of an interval.
    func count(_ key: String, in place: String) throws(ReportFault) -> UInt64 {
        let most = Double(LatencyBuckets.mostOfAnInterval)
        return UInt64(try number(key, 0...most, in: place))
    }
}
