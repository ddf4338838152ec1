import LoadGen

/// One flag and the text it was given; each method reads the text as one kind of value.
struct FlagValue {
    private let name: String
    private let text: String

    /// The flag `name` with the value `text`.
    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    /// A count within `range`.
    func count(_ range: ClosedRange<Int>) throws(FlagError) -> Int {
        guard let value = Quantity.count(text), let count = Int(exactly: value),
            range.contains(count)
        else { throw error("\(range.lowerBound) to \(range.upperBound)") }
        return count
    }

    /// Requests a second; with `orNone` 0 is none.
    func rate(orNone: Bool = false) throws(FlagError) -> Double {
        let limits = SeriesPlan.lowestRate...SeriesPlan.highestRate
        guard let rate = Quantity.rate(text), limits.contains(rate) || orNone && rate == 0 else {
            throw error("\(orNone ? "0, or " : "")\(limits.lowerBound) to 10000000")
        }
        return rate
    }

    /// A length of time within `range`.
    func duration(_ range: ClosedRange<Duration>) throws(FlagError) -> Duration {
        guard let value = Quantity.duration(text), range.contains(value) else {
            let lowest = NumberFormat.duration(range.lowerBound)
            throw error("\(lowest) to \(NumberFormat.duration(range.upperBound))")
        }
        return value
    }

    /// One of the names of `Choice`.
    func choice<Choice>() throws(FlagError) -> Choice
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = Choice(rawValue: text) else {
            throw error(Choice.allCases.map(\.rawValue).joined(separator: " or "))
        }
        return choice
    }

    /// The result of `parse` for the text.
    func parse<Value>(
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(FlagError) -> Value {
        guard let value = parse(text) else { throw error(expected) }
        return value
    }

    /// A process id, or nil for `auto`.
    func processID() throws(FlagError) -> Int? {
        if text == "auto" { return nil }
        guard let id = Int(text), id > 0, id <= 1 << 22 else { throw error("auto or a process id") }
        return id
    }

    /// Percentiles above 0 and below 100, in rising order.
    func percentiles() throws(FlagError) -> [Double] {
        let values = text.split(separator: ",").map { Double($0) ?? .nan }
        guard !values.isEmpty, values.count <= 12, values.allSatisfy({ $0 > 0 && $0 < 100 }) else {
            throw error("1 to 12 numbers above 0 and below 100, as 50,99,99.9")
        }
        return values.sorted()
    }

    /// The error of a value that is not what was expected.
    func error(_ expected: String) -> FlagError {
        FlagError(flag: name, expected: expected, actual: text.isEmpty ? "nothing" : text)
    }
}

/// A flag with an invalid value: names the flag, what it takes and what it got.
package struct FlagError: Error, Equatable, CustomStringConvertible {
    /// The flag, with its dashes.
    package let flag: String
    /// What the flag takes.
    package let expected: String
    /// What was given.
    package let actual: String

    /// The one line that the program prints.
    package var description: String { "\(flag): expected \(expected), got \(actual)." }
}
