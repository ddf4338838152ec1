/// A number in the value of a flag, as `4096`, `64KiB`, `512MiB` or `4GiB`.
enum ByteCountFlag {
    /// The greatest number: a TiB.
    static let greatest = 1 << 40

    private static let units: [(suffix: String, shift: Int)] = [
        ("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0),
    ]

    /// Reads a number; nil where the text is none, or it is greater than `greatest`.
    static func read(_ text: some StringProtocol) -> Int? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let digits = text.dropLast(unit.suffix.count)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(digits),
            count <= greatest >> unit.shift
        else { return nil }
        return count << unit.shift
    }
}
