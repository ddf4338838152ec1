internal import Configuration

/// The settings of a program: its flags win, then its environment, then its file.
///
/// Every value becomes an argument again, which the parser of the command line parses. So there is one parser
/// for all three, one text for a wrong value, and one list of flags.
package struct Settings: Sendable {
    /// A flag with the values that stand.
    package struct Setting: Sendable, Equatable {
        /// The flag.
        package let flag: SettingFlag
        /// Its values as texts; those of a toggle are `true` or `false`.
        ///
        /// None where nothing sets it, and the parser knows no default.
        package let texts: [String]
        /// What has set them.
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
        var providers: [any ConfigProvider] = [
            InMemoryProvider(values: Self.values(GivenFlags(commandLine, flags).texts, flags)),
            EnvironmentVariablesProvider(environmentVariables: environment)
                .prefixKeys(with: ConfigKey(prefix)),
        ]
        var file: SettingsFile?
        let setting = Self.setting(fileFlag, providers, variables, nil)
        if let path = setting.texts.first {
            let found = try SettingsFile(path: path, namedBy: setting.origin.place(of: fileFlag))
            try found.check(flags, fileFlag: fileFlag.name)
            providers.append(InMemoryProvider(values: Self.values(found.texts, flags)))
            file = found
        }
        all = flags.map { Self.setting($0, providers, variables, file) }
        try check(complaint)
    }

    /// The place to name where a flag is refused: the flag, its variable, or its line in the file.
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

    /// Asks the providers for a flag: the command line, the environment, and the file where there is one.
    private static func setting(
        _ flag: SettingFlag,
        _ providers: [any ConfigProvider],
        _ variables: SettingsEnvironment,
        _ file: SettingsFile?
    ) -> Setting {
        let source = SettingSource()
        let reader = ConfigReader(providers: providers, accessReporter: source)
        let key = ConfigKey([flag.name])
        let texts =
            flag.kind == .repeated
            ? reader.stringArray(forKey: key) : reader.string(forKey: key).map { [$0] }
        let origin: SettingOrigin =
            switch source.number {
            case 0: .commandLine
            case 1: .variable(variables.variable(flag))
            default: file?.origin(of: flag) ?? .unset
            }
        return Setting(flag: flag, texts: texts ?? flag.defaultTexts, origin: origin)
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
