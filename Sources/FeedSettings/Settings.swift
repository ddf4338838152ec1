internal import Configuration
internal import FeedConcurrency

/// The settings of a program: its flags win, then its environment, then its file.
///
/// Every value becomes an argument again, which the parser of the command line parses. So there is one parser
/// for all three, one text for a wrong value, and one list of flags.
package struct Settings: Sendable {
    /// A flag with the values that stand.
    package struct Setting: Sendable, Equatable {
        package let flag: SettingFlag
        /// Its values as texts; those of a toggle are `true` or `false`.
        ///
        /// None if nothing sets it, and the parser knows no default.
        package let texts: [String]
        package let origin: SettingOrigin
    }

    /// The settings in the order of the flags.
    package let all: [Setting]

    /// The command line that means the same without the environment and the file.
    package var arguments: [String] {
        all.filter { $0.origin != .unset }.flatMap { $0.flag.arguments($0.texts) }
    }

    /// Finds the values of each flag.
    ///
    /// - Parameters:
    ///   - flags: The flags of the program.
    ///   - commandLine: The words behind the program's name, which its parser has taken.
    ///   - environment: The variables of the process.
    ///   - prefix: The words before the name in each variable, as `feed` and `service`.
    ///   - fileFlag: The flag whose value is the path of a file.
    ///   - complaint: Parses arguments, and returns what is wrong with them.
    /// - Throws: A file, key, variable or value that is refused.
    package init(
        flags: [SettingFlag],
        commandLine: [String],
        environment: [String: String],
        prefix: [String],
        fileFlag: SettingFlag,
        complaint: ([String]) -> String?
    ) throws(SettingError) {
        let variables = SettingsEnvironment(prefix: prefix)
        try variables.check(environment.keys, flags)
        // Filled once it is known which file there is.
        let inFile = MutableInMemoryProvider(initialValues: [:])
        let providers: [any ConfigProvider] = [
            InMemoryProvider(values: Self.values(GivenFlags(commandLine, flags).texts, flags)),
            EnvironmentVariablesProvider(environmentVariables: environment)
                .prefixKeys(with: ConfigKey(prefix)),
            inFile,
        ]
        var sources = SettingSources(providers, variables)
        let setting = sources.setting(fileFlag)
        if let path = setting.texts.first {
            let file = try SettingsFile(path: path, namedBy: setting.origin.place(of: fileFlag))
            try file.check(flags, fileFlag: fileFlag.name)
            for (key, value) in Self.values(file.texts, flags) {
                inFile.setValue(value, forKey: key)
            }
            sources.file = file
        }
        all = flags.map(sources.setting)
        try check(complaint)
    }

    /// The place to name if a flag is refused: the flag, its variable, or its line in the file.
    ///
    /// A text that is no flag, as the name of an argument, is its own place.
    package func place(of flag: String) -> String {
        guard let setting = all.first(where: { $0.flag.flag == flag }) else { return flag }
        return setting.origin.place(of: setting.flag)
    }

    /// Refuses a value that the parser does not take; those of the command line it has taken.
    private func check(_ complaint: ([String]) -> String?) throws(SettingError) {
        for setting in all where setting.origin != .unset && setting.origin != .commandLine {
            let place = setting.origin.place(of: setting.flag)
            if setting.flag.kind == .toggle, let text = setting.texts.first,
                !["true", "false"].contains(text)
            {
                throw SettingError(place, "expected true or false, got \(text).")
            }
            if let problem = complaint(setting.flag.arguments(setting.texts)) {
                throw SettingError(place, problem)
            }
        }
    }

    /// The texts of flags by their names, as a provider takes them.
    private static func values(
        _ texts: [String: [String]],
        _ flags: [SettingFlag]
    ) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for flag in flags {
            guard let texts = texts[flag.name], let last = texts.last else { continue }
            let content: ConfigContent =
                flag.kind == .repeated ? .stringArray(texts) : .string(last)
            values[AbsoluteConfigKey([flag.name])] = ConfigValue(content, isSecret: false)
        }
        return values
    }
}

extension Settings {
    /// The settings as a file that sets the same, with the origin of each value behind it.
    ///
    /// A flag of tests is there only if it is set.
    ///
    /// - Parameters:
    ///   - computed: What stands for flags that are not set, and whose default the program computes, by name.
    ///   - fileFlag: The flag that names the file; it stands in a comment, as a file cannot have it.
    /// - Returns: A line for each flag.
    package func report(computed: [String: String], fileFlag: String) -> String {
        let lines = all.compactMap { setting -> (text: String, origin: String)? in
            let isSet = setting.origin != .unset
            guard isSet || !setting.flag.isHidden else { return nil }
            let name = setting.flag.name
            let known = isSet ? nil : computed[name].map { [$0] }
            guard let value = Self.written(known ?? setting.texts, setting.flag.kind) else {
                return ("# \(name):", "not set")
            }
            let isComment = name == fileFlag
            return ("\(isComment ? "# " : "")\(name): \(value)", setting.originText)
        }
        let width = min(40, lines.map(\.text.count).max() ?? 0)
        return lines.map { line in
            let space = String(repeating: " ", count: max(0, width - line.text.count))
            return "\(line.text)\(space)  # \(line.origin)"
        }
        .joined(separator: "\n")
    }

    /// The values as YAML; nil for none.
    private static func written(_ texts: [String], _ kind: SettingFlag.Kind) -> String? {
        guard !texts.isEmpty else { return nil }
        guard kind == .repeated else { return texts.last.map(scalar) }
        return "[\(texts.map(scalar).joined(separator: ", "))]"
    }

    /// A text as it stands behind a key: in quotes unless it is made of letters, digits and few signs.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.allSatisfy { letter in
            letter.isASCII && (letter.isLetter || letter.isNumber || "/._-".contains(letter))
        }
        guard isPlain, !text.isEmpty, !text.hasPrefix("-") else {
            return "'\(text.replacing("'", with: "''"))'"
        }
        return text
    }
}

extension Settings.Setting {
    fileprivate var originText: String {
        switch origin {
        case .commandLine: flag.flag
        case .variable(let name): name
        case .file(let path, let line): "\(path):\(line)"
        case .unset: "default"
        }
    }
}

package enum SettingOrigin: Sendable, Equatable {
    case commandLine
    case variable(String)
    /// A line of a file, which begins with 1.
    case file(String, line: Int)
    case unset

    /// The place in the words of a refusal, for a key of a file or a flag.
    func place(of flag: SettingFlag) -> String {
        switch self {
        case .commandLine, .unset: flag.flag
        case .variable(let name): name
        case .file(let path, let line): "\(path):\(line): \(flag.name)"
        }
    }
}

/// A setting that is refused: where it stands, and a sentence on what is wrong with it.
package struct SettingError: Error, Equatable, CustomStringConvertible {
    /// A line of a file, a variable or a flag.
    package let place: String
    /// What is wrong, with the value and what is expected.
    package let problem: String

    package init(_ place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    package var description: String { "\(place): \(problem)" }
}

/// The flags on a command line, with their values.
///
/// The command line was parsed before: what is wrong in it is not found here.
private struct GivenFlags {
    let texts: [String: [String]]

    /// Looks for flags in the words behind the program's name; O(words).
    init(_ words: [String], _ flags: [SettingFlag]) {
        let byFlag = Dictionary(flags.map { ($0.flag, $0) }) { first, _ in first }
        var texts: [String: [String]] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let flag = byFlag[String(parts[0])] else { continue }
            let text: String
            if flag.kind == .toggle {
                text = "true"
            } else if parts.count == 2 {
                text = String(parts[1])
            } else {
                // Also a word that begins with a dash: the parser takes it for the value.
                guard let next = rest.popFirst() else { continue }
                text = next
            }
            if flag.kind == .repeated {
                texts[flag.name, default: []].append(text)
            } else {
                texts[flag.name] = [text]
            }
        }
        self.texts = texts
    }
}

/// The names of the variables that set flags.
private struct SettingsEnvironment {
    /// The words before each name, as `feed` and `service`.
    let prefix: [String]

    private var beginning: String { prefix.map { $0.uppercased() + "_" }.joined() }

    /// The variable of a flag: `FEED_SERVICE_DATA_DIR` for `data-dir`.
    func variable(_ flag: SettingFlag) -> String {
        beginning + String(flag.name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// Refuses a variable that begins as those of flags do, and is of none.
    func check(_ variables: some Collection<String>, _ flags: [SettingFlag]) throws(SettingError) {
        let known = Set(flags.map(variable))
        let unknown = variables.filter { $0.hasPrefix(beginning) && !known.contains($0) }.min()
        guard let unknown else { return }
        let names = flags.filter { !$0.isHidden }.map(variable)
        throw SettingError(
            unknown,
            "unknown variable" + Suggestion.text(for: unknown, among: names, quote: "")
        )
    }
}

/// The sources of settings in their order: the command line, the environment, and the file if there is one.
private struct SettingSources {
    private let variables: SettingsEnvironment
    var file: SettingsFile?
    private let latest = LatestSource()
    private let reader: ConfigReader

    init(_ providers: [any ConfigProvider], _ variables: SettingsEnvironment) {
        self.variables = variables
        reader = ConfigReader(providers: providers, accessReporter: latest)
    }

    func setting(_ flag: SettingFlag) -> Settings.Setting {
        let key = ConfigKey([flag.name])
        let texts =
            flag.kind == .repeated
            ? reader.stringArray(forKey: key) : reader.string(forKey: key).map { [$0] }
        let origin: SettingOrigin =
            switch latest.number {
            case 0: .commandLine
            case 1: .variable(variables.variable(flag))
            default: file?.origin(of: flag) ?? .unset
            }
        return Settings.Setting(flag: flag, texts: texts ?? flag.defaultTexts, origin: origin)
    }
}

/// Notes which provider has given a value.
private final class LatestSource: AccessReporter {
    private let found = Lock<Int?>(nil)

    /// The provider of the latest value, by its place in the reader's order; nil if none has one.
    var number: Int? { found.withLock { $0 } }

    func report(_ event: AccessEvent) {
        // A reader asks one provider after another, up to the first that has a value.
        let number = event.providerResults.firstIndex { provider in
            if case .success(let result) = provider.result { result.value != nil } else { false }
        }
        found.withLock { $0 = number }
    }
}
