internal import ArgumentParser
internal import FeedTransport

extension Option {
    /// A flag that may be left out, with the name of its value and the text of its help.
    ///
    /// The value may begin with a dash where `isAnyWord`: one sentence names flag and limits for "-1", too.
    init<Word: ExpressibleByArgument>(
        _ valueName: String,
        _ help: String,
        isAnyWord: Bool = false
    ) where Value == Word? {
        self.init(
            parsing: isAnyWord ? .unconditional : .next,
            help: ArgumentHelp(help, valueName: valueName)
        )
    }
}

extension SocketAddress {
    /// The address in the value of a flag.
    init(_ text: String, of flag: String) throws(ServiceStartError) {
        do {
            try self.init(parsing: text)
        } catch {
            throw .badFlag(flag, "\(error)")
        }
    }
}

/// The values of flags; each error is one sentence with flag, value and limits.
enum FlagValue {
    /// The greatest number of bytes: a TiB.
    static let greatestByteCount = 1 << 40

    private static let byteUnits: [(suffix: String, shift: Int)] = [
        ("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0),
    ]
    private static let unitSeconds: [Character: Int] = ["m": 60, "h": 3600, "d": 86_400]

    /// A whole number within limits.
    static func number(
        _ text: String,
        _ flag: String,
        in limits: ClosedRange<Int>
    ) throws(ServiceStartError) -> Int {
        guard let number = Int(text), limits.contains(number) else {
            throw .badFlag(
                flag,
                "expected \(limits.lowerBound) to \(limits.upperBound), got \(text)."
            )
        }
        return number
    }

    /// A number as `4096`, `64KiB`, `512MiB` or `4GiB`; nil of another text, or above the greatest.
    static func byteCount(_ text: some StringProtocol) -> Int? {
        guard let unit = byteUnits.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.dropLast(unit.suffix.count)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits),
            count <= greatestByteCount >> unit.shift
        else { return nil }
        return count << unit.shift
    }

    /// A time of 1m to 366d, as `90m`, `1h` or `7d`: backups that were made more often would never rest.
    static func interval(_ text: String, _ flag: String) throws(ServiceStartError) -> Duration {
        guard let unit = text.last, let seconds = unitSeconds[unit],
            let count = Int(text.dropLast()), (0...1_000_000).contains(count),
            (60...366 * 86_400).contains(count * seconds)
        else { throw .badFlag(flag, "expected 1m to 366d, as 90m, 1h or 7d, got \(text).") }
        return .seconds(count * seconds)
    }

    /// A time of 100ms to 1h, as `500ms`, `2s` or `1m`: a follower hears of its leader each 50 ms.
    static func staleness(_ text: String, _ flag: String) throws(ServiceStartError) -> Duration {
        let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
        guard let unit = units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(unit.0.count)), (0...3_600_000).contains(count),
            (100...3_600_000).contains(count * unit.1)
        else { throw .badFlag(flag, "expected 100ms to 1h, as 500ms, 2s or 1m, got \(text).") }
        return .milliseconds(count * unit.1)
    }
}
