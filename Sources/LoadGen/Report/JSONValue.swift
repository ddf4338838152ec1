/// A JSON value that keeps the order of its members and is valid for any numbers.
package indirect enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// Many counts, each exact: an array on one line.
    case counts([UInt64])
    case object([(String, JSONValue)])

    /// A count, or a number where it is too large for an exact integer.
    package static func count(_ value: UInt64) -> JSONValue {
        Int64(exactly: value).map(JSONValue.integer) ?? .number(Double(value))
    }

    /// Whether both render alike.
    package static func == (one: JSONValue, other: JSONValue) -> Bool {
        one.rendered() == other.rendered()
    }

    /// The text, indented by two spaces a level; arrays of plain values stay on a line.
    package func rendered(indent: String = "") -> String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return "\(value)"
        // JSON has no infinity and no "not a number"; those are written as null.
        case .number(let value): return value.isFinite ? "\(value)" : "null"
        case .string(let value): return Self.quoted(value)
        case .counts(let values):
            return "[\(values.map(String.init).joined(separator: ","))]"
        case .array(let values):
            let inner = indent + "  "
            let texts = values.map { $0.rendered(indent: inner) }
            if values.allSatisfy(\.isPlain) { return "[\(texts.joined(separator: ", "))]" }
            return "[\n\(inner)\(texts.joined(separator: ",\n\(inner)"))\n\(indent)]"
        case .object(let members):
            guard !members.isEmpty else { return "{}" }
            let inner = indent + "  "
            let texts = members.map { "\(Self.quoted($0)): \($1.rendered(indent: inner))" }
            return "{\n\(inner)\(texts.joined(separator: ",\n\(inner)"))\n\(indent)}"
        }
    }

    private var isPlain: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }

    private static func quoted(_ text: String) -> String {
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
