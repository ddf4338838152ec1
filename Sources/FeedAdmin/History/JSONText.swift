/// The pieces of JSON that the history has.
enum JSONText {
    /// A number to the tenth of a millionth; null where it is not finite.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
        // Fewer digits than a Double has: the page draws them, and each row is read a thousand times.
        let scale = 10_000_000.0
        let rounded = (value * scale).rounded() / scale
        return rounded == 0 ? "\(value)" : "\(rounded)"
    }

    /// A text in quotes.
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
