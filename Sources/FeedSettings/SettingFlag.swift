internal import Foundation

/// A flag of a program, as the parser of its command line describes it.
///
/// The parser's own description is the one list of flags: a flag that is added to the program is a key of its
/// file and a variable of its environment without another line.
package struct SettingFlag: Sendable, Equatable {
    /// How many values a flag takes.
    package enum Kind: Sendable {
        /// None: the flag is given or not.
        case toggle
        /// One; the last one stands.
        case single
        /// Any number.
        case repeated
    }

    /// The flag without its dashes, as `data-dir`; the key of a file.
    package let name: String
    package let kind: Kind
    /// Whether `--help` leaves it out, as a flag of tests.
    package let isHidden: Bool
    /// The values that it has without being given, if the parser knows them.
    package let defaultTexts: [String]

    /// A flag by hand, for tests.
    package init(
        _ name: String,
        _ kind: Kind,
        isHidden: Bool = false,
        defaultTexts: [String] = []
    ) {
        self.name = name
        self.kind = kind
        self.isHidden = isHidden
        self.defaultTexts = defaultTexts
    }

    /// The flag with its dashes.
    package var flag: String { "--\(name)" }

    /// The arguments that give the flag these values.
    package func arguments(_ texts: [String]) -> [String] {
        switch kind {
        case .toggle: texts == ["true"] ? [flag] : []
        // ArgumentParser takes `--flag=` for a flag without a value, and a value of its own for any text.
        case .single, .repeated: texts.flatMap { $0.isEmpty ? [flag, ""] : ["\(flag)=\($0)"] }
        }
    }
}

extension SettingFlag {
    /// The flags of a program, from what it prints for `--experimental-dump-help`.
    ///
    /// - Parameter dump: The description of a command in JSON, version 0 of ArgumentParser.
    /// - Returns: The flags of the command itself, without `--help` and `--version`.
    package static func list(ofDump dump: String) -> [SettingFlag] {
        guard let tool = try? JSONDecoder().decode(Tool.self, from: Data(dump.utf8)) else {
            preconditionFailure("ArgumentParser's description of a program has another form.")
        }
        return tool.command.arguments.compactMap { argument in
            guard argument.kind != "positional",
                let name = argument.names?.first(where: { $0.kind == "long" })?.name,
                name != "help", name != "version"
            else { return nil }
            let kind: Kind =
                argument.kind == "flag" ? .toggle : argument.isRepeating ? .repeated : .single
            return SettingFlag(
                name,
                kind,
                isHidden: !argument.shouldDisplay,
                defaultTexts: kind == .toggle
                    ? ["false"] : argument.defaultValue.map { Self.texts($0, kind) } ?? []
            )
        }
    }

    /// The parser joins the values of a repeated flag.
    private static func texts(_ joined: String, _ kind: Kind) -> [String] {
        guard kind == .repeated else { return [joined] }
        return joined.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The part of the description that is read.
    private struct Tool: Decodable {
        struct Command: Decodable {
            var arguments: [Argument]
        }

        struct Argument: Decodable {
            var kind: String
            var names: [Name]?
            var isRepeating: Bool
            var shouldDisplay: Bool
            var defaultValue: String?
        }

        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var command: Command
    }
}
