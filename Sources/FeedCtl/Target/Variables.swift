/// The variables of the environment that stand for flags of every command.
package struct Variables {
    /// The variables without the prefix of their names.
    private var values: [String: String] = [:]

    private static let prefix = "FEEDCTL_"
    private static let names = [
        "TARGET", "TLS", "CA", "CERT", "KEY", "PROFILE", "SERVICE_KEY_FILE",
    ]

    /// Takes the variables from an environment; an empty one counts as none.
    ///
    /// One with a typing error is refused: a connection would be plain that was to be secured.
    package init(_ environment: [String: String]) throws(VariableError) {
        for (name, value) in environment where name.hasPrefix(Self.prefix) && !value.isEmpty {
            let flag = String(name.dropFirst(Self.prefix.count))
            guard Self.names.contains(flag) else {
                let hint = Suggestion.text(for: flag, among: Self.names) { Self.prefix + $0 }
                throw VariableError(description: "\(name): there is no such setting\(hint)")
            }
            values[flag] = value
        }
        guard ["true", "false", nil].contains(values["TLS"]) else {
            throw VariableError(
                description: "FEEDCTL_TLS: expected true or false, got \(values["TLS"] ?? "")."
            )
        }
    }

    /// Where the service is.
    package var target: TargetSettings {
        TargetSettings(
            target: values["TARGET"],
            tls: values["TLS"].map { $0 == "true" },
            ca: values["CA"],
            cert: values["CERT"],
            key: values["KEY"]
        )
    }

    /// The folder of the profile.
    package var profile: String? { values["PROFILE"] }

    /// The file with the key of a service.
    package var serviceKeyFile: String? { values["SERVICE_KEY_FILE"] }
}

/// A variable of the environment is wrong: a sentence that begins with its name.
package struct VariableError: Error, CustomStringConvertible {
    package let description: String
}
