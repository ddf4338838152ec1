/// Any JSON document, with every member of a report.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case natural(UInt64)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The member `key` of an object; nil elsewhere.
    subscript(_ key: String) -> JSONValue? {
        get { if case .object(let members) = self { members[key] } else { nil } }
        set {
            guard case .object(var members) = self else { return }
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The elements of an array; none elsewhere.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The members of an object; none elsewhere.
    var members: [String: JSONValue] {
        if case .object(let members) = self { members } else { [:] }
    }

    /// The text; nil elsewhere.
    var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The number; nil elsewhere.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .natural(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each error costs more than many numbers, of which a report mostly consists.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Double.self) {
            self = Self.whole(value, container) ?? .number(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
            self = .object(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .bool(try container.decode(Bool.self))
        }
    }

    /// The whole number that `value` was read from; nil where there is none.
    private static func whole(
        _ value: Double,
        _ container: any SingleValueDecodingContainer
    ) -> JSONValue? {
        guard value == value.rounded(.towardZero) else { return nil }
        if value < 0x1p63, let value = try? container.decode(Int64.self) { return .integer(value) }
        return (try? container.decode(UInt64.self)).map { .natural($0) }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .natural(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
