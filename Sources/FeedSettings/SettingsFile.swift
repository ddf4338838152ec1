internal import Foundation
internal import Yams

/// A file of settings: YAML with a line `key: value` for each flag.
///
/// The key is the flag without its dashes. A flag without a value takes `true` or `false`, and one that may
/// be repeated takes a list, too.
package struct SettingsFile: Sendable {
    /// The longest file: many times all flags.
    package static let maximumByteCount = 64 << 10

    private struct Entry: Sendable, Equatable {
        var key: String
        var texts: [String]
        var isList: Bool
        var line: Int
    }

    /// The path as it was given, for messages.
    private let path: String
    private let entries: [Entry]

    /// The file at a path.
    ///
    /// - Parameters:
    ///   - path: The path; a pipe works too.
    ///   - place: What has named the path, for the message if it cannot be read.
    /// - Throws: If it cannot be read, or is no YAML of keys and values.
    package init(path: String, namedBy place: String) throws(SettingError) {
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? file.close() }
            data = try file.read(upToCount: Self.maximumByteCount + 1) ?? Data()
        } catch {
            throw SettingError(place, "\(path) cannot be read: \(Self.cause(of: error))")
        }
        guard data.count <= Self.maximumByteCount else {
            throw SettingError(place, "\(path) is longer than \(Self.maximumByteCount) bytes.")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw SettingError(place, "\(path) is not UTF-8.")
        }
        try self.init(text: text, path: path)
    }

    package init(text: String, path: String) throws(SettingError) {
        self.path = path
        let root: Node?
        do {
            root = try Parser(yaml: text, encoding: .utf8).singleRoot()
        } catch {
            throw Self.refusal(of: error, path)
        }
        guard let root, !Self.isNothing(root) else {
            entries = []
            return
        }
        guard let mapping = root.mapping else {
            throw SettingError("\(path):1", "expected lines as `threads: 4`.")
        }
        var entries: [Entry] = []
        for (key, value) in mapping { entries.append(try Self.entry(key, value, path)) }
        self.entries = entries
    }

    private static func entry(
        _ key: Node,
        _ value: Node,
        _ path: String
    ) throws(SettingError) -> Entry {
        let line = key.mark?.line ?? 1
        guard let name = key.scalar?.string else {
            throw SettingError("\(path):\(line)", "expected a key, as in `threads: 4`.")
        }
        let place = "\(path):\(line): \(name)"
        let nodes = value.sequence.map(Array.init) ?? [value]
        var texts: [String] = []
        for node in nodes {
            guard let scalar = node.scalar else {
                throw SettingError(place, "expected a value or a list of values.")
            }
            guard !isNothing(node) else { throw SettingError(place, "expected a value, got none.") }
            texts.append(scalar.string)
        }
        guard !texts.isEmpty else { throw SettingError(place, "expected a value, got none.") }
        return Entry(key: name, texts: texts, isList: value.sequence != nil, line: line)
    }

    /// Whether nothing is written where a value could be; an empty text in quotes is one.
    private static func isNothing(_ node: Node) -> Bool {
        node.scalar.map { $0.style == .plain && $0.string.isEmpty } ?? false
    }

    private static func refusal(of error: any Error, _ path: String) -> SettingError {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            SettingError("\(path):\(mark.line)", "this is no YAML: \(problem).")
        case .duplicatedKeysInMapping(let keys, let context):
            SettingError(
                "\(path):\(context.mark.line)",
                "the key \(keys.map { "\"\($0)\"" }.joined(separator: ", ")) is there twice."
            )
        case .reader(let problem, _, _, _):
            SettingError(path, "this is no YAML: \(problem).")
        default:
            SettingError(path, "this is no YAML: \(error)")
        }
    }

    /// The system's reason, which Foundation wraps.
    private static func cause(of error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        // Foundation says this before each cause.
        let text = cause.localizedDescription
            .replacing("The operation could not be completed. ", with: "")
        return text.hasSuffix(".") ? text : text + "."
    }
}

extension SettingsFile {
    var texts: [String: [String]] {
        Dictionary(entries.map { ($0.key, $0.texts) }) { first, _ in first }
    }

    /// The line of a flag; nil if the file does not have it.
    func origin(of flag: SettingFlag) -> SettingOrigin? {
        entries.first { $0.key == flag.name }.map { .file(path, line: $0.line) }
    }

    /// Refuses the first key that is none of the flags or names another file, and a list if its flag takes
    /// one value.
    func check(_ flags: [SettingFlag], fileFlag: String) throws(SettingError) {
        for entry in entries {
            let place = "\(path):\(entry.line)"
            guard entry.key != fileFlag else {
                throw SettingError(place, "a file names no other file, as \"\(fileFlag)\" would.")
            }
            guard let flag = flags.first(where: { $0.name == entry.key }) else {
                let names = flags.filter { !$0.isHidden }.map(\.name)
                throw SettingError(
                    place,
                    "unknown key \"\(entry.key)\"" + Suggestion.text(for: entry.key, among: names)
                )
            }
            guard flag.kind == .repeated || !entry.isList else {
                throw SettingError("\(place): \(entry.key)", "expected one value, got a list.")
            }
        }
    }
}
