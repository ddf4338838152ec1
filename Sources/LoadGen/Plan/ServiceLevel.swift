/// A condition that must hold at the end, as `--slo` names it.
package struct ServiceLevel: Sendable, Equatable {
    /// The quantity that is checked.
    package enum Subject: Sendable, Equatable {
        /// A percentile of the response time in nanoseconds, of one operation or of all.
        case percentile(Double, Operation?)
        /// The longest response time in nanoseconds.
        case maximum(Operation?)
        /// Answers a second.
        case rate
        /// The share of requests that were not answered with success, in percent.
        case errors
        /// CPU-seconds of the service per million operations.
        case serverCPU
        /// Whether the audit passed: 1 or 0.
        case audit
    }

    /// How the subject must compare with the limit.
    package enum Comparison: String, Sendable, CaseIterable {
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
        case equal = "="

        func holds(_ value: Double, _ limit: Double) -> Bool {
            switch self {
            case .atMost: value <= limit
            case .atLeast: value >= limit
            case .below: value < limit
            case .above: value > limit
            case .equal: value == limit
            }
        }
    }

    /// The expression as typed.
    package let text: String
    /// The quantity that is checked.
    package let subject: Subject
    /// How it must compare.
    package let comparison: Comparison
    /// The limit, in the subject's unit.
    package let limit: Double

    /// The forms that `--slo` takes, for its error.
    package static let forms = """
        p99<5ms, vote.p99.9<20ms, max<1s, rate>=100k, errors<0.01%, cpu<6s/M or audit=ok, each with its \
        unit, or several with commas
        """

    /// The service levels in `text`, divided by commas; nil where one is none.
    package static func list(_ text: String) -> [Self]? {
        let levels = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { Self(parsing: String($0)) }
        let known = levels.compactMap(\.self)
        return known.count == levels.count ? known : nil
    }

    /// The service level that `text` names, or nil.
    package init?(parsing text: String) {
        let found = Comparison.allCases.lazy.compactMap { comparison in
            text.firstRange(of: comparison.rawValue).map { (comparison, $0) }
        }.first
        guard let (comparison, range) = found else { return nil }
        let subject = Subject(parsing: String(text[..<range.lowerBound]))
        let value = String(text[range.upperBound...])
        guard let subject, let limit = subject.limit(value, comparison) else { return nil }
        self.text = text
        self.subject = subject
        self.comparison = comparison
        self.limit = limit
    }

    /// Whether `value` holds; a missing value never does.
    package func holds(_ value: Double?) -> Bool {
        value.map { comparison.holds($0, limit) } ?? false
    }
}

extension ServiceLevel.Subject {
    /// The operation whose response times are checked; nil where it is not of one alone.
    package var operation: Operation? {
        switch self {
        case .percentile(_, let operation), .maximum(let operation): operation
        case .rate, .errors, .serverCPU, .audit: nil
        }
    }

    fileprivate init?(parsing text: String) {
        switch text {
        case "rate": self = .rate
        case "errors": self = .errors
        case "cpu": self = .serverCPU
        case "audit": self = .audit
        default:
            var name = Substring(text)
            var operation: Operation?
            if let dot = text.firstIndex(of: "."), let named = Operation(name: text[..<dot]) {
                operation = named
                name = text[text.index(after: dot)...]
            }
            if name == "max" {
                self = .maximum(operation)
            } else if name.first == "p", let percentile = Double(name.dropFirst()), percentile > 0,
                percentile < 100
            {
                self = .percentile(percentile, operation)
            } else {
                return nil
            }
        }
    }

    fileprivate func limit(_ text: String, _ comparison: ServiceLevel.Comparison) -> Double? {
        // Only the audit compares for equality: two measured numbers are never equal.
        guard (self == .audit) == (comparison == .equal) else { return nil }
        switch self {
        // A bound without its unit is a guess: 5 is meant as milliseconds, and would be seconds.
        case .percentile, .maximum:
            guard !Quantity.isBare(text) else { return nil }
            return Quantity.duration(text).map { Double($0.nanoseconds) }
        case .rate: return Quantity.rate(text)
        case .errors: return Quantity.isBare(text) ? nil : Quantity.percent(text)
        case .serverCPU:
            guard text.hasSuffix("s/M"), let value = Double(text.dropLast(3)), value > 0 else {
                return nil
            }
            return value
        case .audit: return text == "ok" ? 1 : nil
        }
    }
}
