import Foundation

/// The JSON document of a run, or of two services, as a file has it and a page shows it.
package struct ReportDocument: Sendable {
    /// What the page calls the run, beside others.
    package var name: String
    private(set) var root: JSONValue

    /// The document in the file at `path`, named after it.
    ///
    /// - Throws: `RunFailure.badFile` where it cannot be read or is no report.
    package init(reading path: String) throws(RunFailure) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw .badFile(path, error.localizedDescription)
        }
        guard let found = Self.report(data) else {
            throw .badFile(path, "The file is no JSON report of loadgen with schema 1.")
        }
        root = found
        name = URL(filePath: path).deletingPathExtension().lastPathComponent
    }

    /// The document that a report's text is; nil where it is none.
    package init?(parsing text: String, name: String) {
        guard let found = Self.report(Data(text.utf8)) else { return nil }
        root = found
        self.name = name
    }

    package var isSideBySide: Bool { root["ab"] != nil }

    var isValid: Bool { root["verdict"]?["valid"] == .bool(true) }

    /// What names the run; reports of one run have the same.
    package var runID: String? { root["config"]?["run_id"]?.string }

    /// Whether the two reports have the same members; the names of their files do not count.
    package func isCopy(of other: ReportDocument) -> Bool { root == other.root }

    /// The report that the document is; `path` names the file in an error.
    ///
    /// It has what the text report shows, and whole histograms, and no record for a later audit.
    ///
    /// - Throws: `RunFailure.badFile` where a member is missing or has a value that no run has.
    package func result(path: String) throws(RunFailure) -> RunReport {
        do {
            return try JSONDecoder().decode(RunReport.self, from: JSONEncoder().encode(root))
        } catch let fault as ReportFault {
            throw .badFile(path, fault.description)
        } catch {
            throw .badFile(
                path,
                "The report lacks a member that every run has: \(Self.place(error))"
            )
        }
    }

    private static func place(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            context.codingPath.map(\.stringValue).joined(separator: ".")
        default: "\(error)"
        }
    }

    private static func report(_ data: Data) -> JSONValue? {
        guard var root = try? JSONDecoder().decode(Members.self, from: data).root,
            root["schema"]?.double == 1, root["config"] != nil
        else { return nil }
        // It may be long, and only --verify-only reads it.
        root["record"] = nil
        return root
    }

    /// The data of a page with `runCount` runs: with the points of the charts, and with few enough
    /// intervals that the page stays small.
    package func data(runCount: Int) -> JSONValue {
        var data = root
        data["name"] = .text(name)
        if let points = try? JSONEncoder().encode(["measures": ChartMeasure.all(in: root)]),
            let charts = try? JSONDecoder().decode(JSONValue.self, from: points)
        {
            data["charts"] = charts
        }
        let most = Self.mostIntervals / runCount
        data["intervals"] = .array(Self.condensed(root["intervals"]?.elements ?? [], most: most))
        guard runCount > 1 else { return data }
        for (operation, measures) in root["ops"]?.members ?? [:] {
            for measure in measures.members.keys { data["ops"]?[operation]?[measure]?["hdr"] = nil }
        }
        for part in (root["latency_split_ms"]?.members ?? [:]).keys {
            data["latency_split_ms"]?[part]?["hdr"] = nil
        }
        return data
    }

    /// More columns than a chart has room for, at some 500 bytes each.
    private static let mostIntervals = 240

    /// `intervals`, of which each group of neighbours has become one.
    private static func condensed(_ intervals: [JSONValue], most: Int) -> [JSONValue] {
        let size = (intervals.count + most - 1) / max(most, 1)
        guard size > 1 else { return intervals }
        return stride(from: 0, to: intervals.count, by: size).map { start in
            let group = intervals[start..<min(start + size, intervals.count)]
            return group.dropFirst().reduce(group[group.startIndex]) {
                IntervalPair(first: $0, second: $1).joined
            }
        }
    }
}

/// The top of a report without its `record`, which may have many megabytes.
private struct Members: Decodable {
    let root: JSONValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberKey.self)
        var members: [String: JSONValue] = [:]
        for key in container.allKeys where key.stringValue != "record" {
            members[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
        }
        root = .object(members)
    }
}

/// Two intervals, one after the other, that become one.
///
/// Counts are added and spreads of latencies too. Percentiles cannot be: the larger one is kept. A member
/// that is not named here is left out: a sum may be wrong for it. A test finds one that the report has.
private struct IntervalPair {
    let first: JSONValue
    let second: JSONValue

    var joined: JSONValue {
        .object(
            first.members.merging(second.members) { mine, _ in mine }
                .reduce(into: [:]) { $0[$1.key] = member($1.key) }
        )
    }

    private func member(_ key: String) -> JSONValue? {
        let (one, two) = (first[key] ?? .null, second[key] ?? .null)
        switch key {
        case "end_seconds", "failed_so_far": return two
        case "measured": return one == .bool(true) && two == .bool(true) ? one : .bool(false)
        case "response_ms": return latencies(one, two)
        case "cpu": return processors(one, two)
        case "seconds", "errors", "timeouts", "lost", "reconnects": return sum(one, two)
        default: return Self.operations.contains(key) ? sum(one, two) : nil
        }
    }

    /// The members that count the answers of an operation.
    private static let operations = Set(Operation.allCases.map(\.name))

    private func sum(_ one: JSONValue, _ two: JSONValue) -> JSONValue {
        .number((one.double ?? 0) + (two.double ?? 0))
    }

    private func latencies(_ one: JSONValue, _ two: JSONValue) -> JSONValue {
        var joined: [String: JSONValue] = [:]
        for key in Set(one.members.keys).union(two.members.keys) {
            let values = [one[key]?.double, two[key]?.double].compactMap(\.self)
            joined[key] = .number(key == "count" ? values.reduce(0, +) : values.max() ?? 0)
        }
        var buckets = Self.buckets(one)
        buckets.add(Self.buckets(two))
        joined["first_bucket"] = .integer(Int64(buckets.first))
        joined["buckets"] = .array(buckets.counts.map { .natural($0) })
        return .object(joined)
    }

    private static func buckets(_ latencies: JSONValue) -> LatencyBuckets {
        LatencyBuckets(
            first: latencies["first_bucket"]?.double ?? 0,
            numbers: (latencies["buckets"]?.elements ?? []).map { $0.double ?? 0 }
        ) ?? LatencyBuckets()
    }

    /// Cores in use: the mean, by the length of the intervals.
    private func processors(_ one: JSONValue, _ two: JSONValue) -> JSONValue {
        let (long, longer) = (first["seconds"]?.double ?? 0, second["seconds"]?.double ?? 0)
        let whole = max(long + longer, 1e-9)
        return .object(
            one.members.merging(two.members) { mine, _ in mine }.reduce(into: [:]) { sum, member in
                guard let a = one[member.key]?.double, let b = two[member.key]?.double else {
                    sum[member.key] =
                        one[member.key]?.double == nil ? two[member.key] : member.value
                    return
                }
                sum[member.key] = .number((a * long + b * longer) / whole)
            }
        )
    }
}

extension RunFigures {
    /// Reads the figures of an earlier run from its JSON report.
    ///
    /// - Throws: `RunFailure.badFile` where the file is no report of a run.
    package init(readingReport path: String) throws(RunFailure) {
        let document = try ReportDocument(reading: path)
        self = try document.result(path: path).figures
        // The run has judged itself by more than its report has.
        isComparable = document.isValid
    }

    /// Reads the figures of an earlier run of the load that `configuration` describes.
    ///
    /// - Throws: `RunFailure.badFile`, or `RunFailure.otherLoad` where the load was another.
    package init(baselineAt path: String, for configuration: RunConfiguration) throws(RunFailure) {
        try self.init(readingReport: path)
        let given = RunSettings(configuration)
        if let (flag, mine, other) = given.difference(from: settings) {
            throw .otherLoad(path, flag: flag, baseline: other, given: mine)
        }
    }
}

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

    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    var members: [String: JSONValue] {
        if case .object(let members) = self { members } else { [:] }
    }

    var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

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
