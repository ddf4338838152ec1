/// A value of a report that no run has.
///
/// A file may have any number. One outside its limits would trap where it is converted or added.
struct ReportFault: Error, CustomStringConvertible {
    /// What the member takes and what it has, in one sentence.
    let description: String

    /// A text that no flag takes.
    static let configuration = ReportFault(
        description: "Its config has values that loadgen does not take."
    )
    /// A text that is no histogram.
    static let histogram = ReportFault(
        description: "A histogram (hdr) is none that loadgen encodes."
    )

    /// Checks that the value of `member` is within `limits`.
    static func check<Value: Comparable>(
        _ member: String,
        _ value: Value,
        _ limits: ClosedRange<Value>
    ) throws(ReportFault) {
        guard !limits.contains(value) else { return }
        let range = "\(text(limits.lowerBound)) to \(text(limits.upperBound))"
        throw ReportFault(description: "\(member): expected \(range), got \(text(value)).")
    }

    /// Whole numbers without a fraction.
    private static func text(_ value: some Comparable) -> String {
        (value as? Double).flatMap { Int64(exactly: $0) }.map { "\($0)" } ?? "\(value)"
    }
}
