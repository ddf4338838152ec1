import Foundation

/// A member of a JSON document about a `Root`: its name, and how it is written and read.
///
/// A table of members is the whole mapping between a type and its object: a figure has one line there.
/// What is computed from other figures is only written, as a reader computes it again.
package struct Member<Root>: Sendable {
    typealias Writer = KeyedEncodingContainer<MemberKey>
    typealias Reader = KeyedDecodingContainer<MemberKey>
    typealias Path<Value> = WritableKeyPath<Root, Value> & Sendable

    let write: @Sendable (Root, inout Writer) throws -> Void
    let read: @Sendable (inout Root, Reader) throws -> Void

    /// A member that is written and read in its own way.
    init(
        write: @escaping @Sendable (Root, inout Writer) throws -> Void,
        read: @escaping @Sendable (inout Root, Reader) throws -> Void = { _, _ in }
    ) {
        self.write = write
        self.read = read
    }

    /// A member that every document has.
    static func required<Value>(
        _ name: MemberKey,
        _ path: any Path<Value>,
        _ form: Form<Value>
    ) -> Self {
        Self(
            write: { try form.write($0[keyPath: path], name, &$1) },
            read: { $0[keyPath: path] = try form.read(name, $1) }
        )
    }

    /// A member whose figure keeps its first value if a document has none.
    static func usual<Value>(
        _ name: MemberKey,
        _ path: any Path<Value>,
        _ form: Form<Value>
    ) -> Self {
        Self(
            write: { try form.write($0[keyPath: path], name, &$1) },
            read: { if try $1.has(name) { $0[keyPath: path] = try form.read(name, $1) } }
        )
    }

    /// A member that is null if there is no figure.
    static func optional<Value>(
        _ name: MemberKey,
        _ path: any Path<Value?>,
        _ form: Form<Value>
    ) -> Self {
        Self(
            write: { root, writer in
                guard let value = root[keyPath: path] else {
                    return try writer.encodeNil(forKey: name)
                }
                try form.write(value, name, &writer)
            },
            read: { if try $1.has(name) { $0[keyPath: path] = try form.read(name, $1) } }
        )
    }

    /// A member that is only written: null if there is no value, or if it is infinite or no number, which
    /// JSON does not have.
    static func written<Value: Encodable & SendableMetatype>(
        _ name: MemberKey,
        _ value: @escaping @Sendable (Root) -> Value?
    ) -> Self {
        Self(write: { try $1.encode(OrNull(value($0)), forKey: name) })
    }

    /// A member that is an object with figures of the same `Root`.
    static func object(_ name: MemberKey, _ members: [Member<Root>]) -> Self {
        Self(
            write: { root, writer in
                var object = writer.nestedContainer(keyedBy: MemberKey.self, forKey: name)
                for member in members { try member.write(root, &object) }
            },
            read: { root, reader in
                let object = try reader.nestedContainer(keyedBy: MemberKey.self, forKey: name)
                for member in members { try member.read(&root, object) }
            }
        )
    }
}

extension Member {
    /// The member in the document of a whole, of which `Root` is a part.
    func of<Whole>(_ path: any Member<Whole>.Path<Root>) -> Member<Whole> {
        Member<Whole>(
            write: { try write($0[keyPath: path], &$1) },
            read: { try read(&$0[keyPath: path], $1) }
        )
    }
}

/// How a value stands in a document.
struct Form<Value>: Sendable {
    let write: @Sendable (Value, MemberKey, inout KeyedEncodingContainer<MemberKey>) throws -> Void
    let read: @Sendable (MemberKey, KeyedDecodingContainer<MemberKey>) throws -> Value

    /// A form as a `Raw`, which is null if it is infinite or no number.
    init<Raw: Codable & SendableMetatype>(
        write: @escaping @Sendable (Value) -> Raw,
        read: @escaping @Sendable (Raw, _ place: String) throws -> Value
    ) {
        self.write = { try $2.encode(OrNull(write($0)), forKey: $1) }
        self.read = { name, reader in
            try read(reader.decode(Raw.self, forKey: name), reader.place(of: name))
        }
    }
}

extension Form where Value: Codable & Sendable {
    /// As it is.
    static var plain: Self { Self(write: { $0 }, read: { value, _ in value }) }
}

extension Form where Value: Codable & Comparable & Sendable {
    /// A number within the limits that a run has.
    static func within(_ limits: ClosedRange<Value>) -> Self {
        Self(
            write: { $0 },
            read: { value, place in
                try ReportFault.check(place, value, limits)
                return value
            }
        )
    }
}

extension Form<UInt64> {
    /// A count: at most far more than a run counts, and so few that those of a thousand generators add up.
    static var count: Self { .within(0...mostCounted) }
    static let mostCounted: UInt64 = 1 << 50
}

extension Form<[String: UInt64]> {
    static var counts: Self {
        Self(
            write: { $0 },
            read: { counts, place in
                for (name, count) in counts {
                    try ReportFault.check("\(place).\(name)", count, 0...Form<UInt64>.mostCounted)
                }
                return counts
            }
        )
    }
}

extension Form<[Double]> {
    static func each(_ limits: ClosedRange<Double>) -> Self {
        Self(
            write: { $0 },
            read: { numbers, place in
                for (index, number) in numbers.enumerated() {
                    try ReportFault.check("\(place)[\(index)]", number, limits)
                }
                return numbers
            }
        )
    }
}

extension Form<Duration> {
    static func seconds(_ limits: ClosedRange<Double>) -> Self {
        Self(
            write: { $0 / .seconds(1) },
            read: { seconds, place in
                try ReportFault.check(place, seconds, limits)
                return .seconds(seconds)
            }
        )
    }
}

extension Form where Value: CustomStringConvertible & SendableMetatype {
    /// Its description, of which `parse` makes the value again; a text that it refuses is a fault.
    static func text(_ parse: @escaping @Sendable (String) -> Value?) -> Self {
        Self(
            write: { $0.description },
            read: { text, place in
                guard let value = parse(text) else { throw ReportFault.noValue(place, text) }
                return value
            }
        )
    }
}

extension Form where Value: RawRepresentable<String> & SendableMetatype {
    static var name: Self {
        Self(
            write: { $0.rawValue },
            read: { text, place in
                guard let value = Value(rawValue: text) else {
                    throw ReportFault.noValue(place, text)
                }
                return value
            }
        )
    }
}

/// A type that a document has as an object with the members of a table.
package protocol JSONDescribed: Encodable {
    static var members: [Member<Self>] { get }
}

extension JSONDescribed {
    package func encode(to encoder: any Encoder) throws {
        var writer = encoder.container(keyedBy: MemberKey.self)
        for member in Self.members { try member.write(self, &writer) }
    }

    /// The document: sorted members, and a newline at its end.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        } catch {
            preconditionFailure("A document has texts and finite numbers: \(error)")
        }
    }
}

/// A type that is also read.
package protocol JSONReadable: JSONDescribed, Decodable {
    /// What it is before its members are read.
    static var unread: Self { get }
}

extension JSONReadable {
    package init(from decoder: any Decoder) throws {
        let reader = try decoder.container(keyedBy: MemberKey.self)
        self = .unread
        for member in Self.members { try member.read(&self, reader) }
    }
}

package struct MemberKey: CodingKey, ExpressibleByStringLiteral {
    package let stringValue: String
    package var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    package init(stringLiteral name: String) {
        stringValue = name
    }

    package init?(stringValue: String) {
        self.stringValue = stringValue
    }

    package init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<MemberKey> {
    /// Whether the object has a member that is not null.
    func has(_ name: MemberKey) throws -> Bool {
        try contains(name) && !decodeNil(forKey: name)
    }

    /// What an error calls a member, as `intervals[3].cpu`.
    func place(of name: MemberKey) -> String {
        (codingPath + [name]).reduce(into: "") { place, key in
            if let index = key.intValue {
                place += "[\(index)]"
            } else {
                place += (place.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}

/// A value that is null if there is none, or if it is infinite or no number.
struct OrNull<Value: Encodable>: Encodable {
    let value: Value?

    init(_ value: Value?) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value, (value as? Double)?.isFinite != false {
            try container.encode(value)
        } else {
            try container.encodeNil()
        }
    }
}

extension OrNull: Decodable where Value: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

/// A value of a report that no run has.
///
/// A file may have any number. One outside its limits would trap where it is converted or added.
struct ReportFault: Error, CustomStringConvertible {
    /// What the member takes and what it has, in one sentence.
    let description: String

    static let histogram = ReportFault(
        description: "A histogram (hdr) is none that loadgen encodes."
    )

    /// A text that is no value of its member.
    static func noValue(_ member: String, _ text: String) -> ReportFault {
        ReportFault(
            description: "\(member): expected a value that loadgen takes, got \"\(text)\"."
        )
    }

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

extension Dictionary where Key: RawRepresentable<String>, Value == UInt64 {
    /// The counts by their names in a document; unknown ones are dropped.
    var byName: [String: UInt64] {
        get { [String: UInt64](uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) }) }
        set {
            let known = newValue.compactMap { name, count in
                Key(rawValue: name).map { ($0, count) }
            }
            self = Dictionary(uniqueKeysWithValues: known)
        }
    }
}
