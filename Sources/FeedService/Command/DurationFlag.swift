/// A time in the value of a flag, as `90m`, `1h` or `7d`.
enum DurationFlag {
    private static let unitSeconds: [Character: Int] = ["m": 60, "h": 3600, "d": 86_400]

    /// Reads a time within limits, which the error names in words.
    static func read(
        _ text: String,
        _ flag: String,
        in limits: ClosedRange<Duration>,
        limits words: String
    ) throws(ServiceStartError) -> Duration {
        guard let unit = text.last, let seconds = unitSeconds[unit],
            let count = Int(text.dropLast()), (0...1_000_000).contains(count),
            limits.contains(.seconds(count * seconds))
        else { throw .badFlag(flag, "expected \(words), as 90m, 1h or 7d, got \(text).") }
        return .seconds(count * seconds)
    }
}
