package import FeedClient
internal import Foundation

/// Where the service is and how the connection to it is secured, as far as a source says; nil is nothing.
///
/// There are three sources: the flags, the variables `FEEDCTL_*`, and the profile, in which
/// `feedctl login` keeps them.
package struct TargetSettings: Codable, Equatable, Sendable {
    /// The host, with or without a port; those of a cluster have commas between them.
    package var target: String?
    /// Whether the connection is secured; false is an express no.
    package var tls: Bool?
    /// The file with the certificates that vouch for the service's.
    package var ca: String?
    /// The file with the certificate to show the service.
    package var cert: String?
    /// The file with the certificate's private key.
    package var key: String?

    /// Settings; without arguments those of a source that says nothing.
    package init(
        target: String? = nil,
        tls: Bool? = nil,
        ca: String? = nil,
        cert: String? = nil,
        key: String? = nil
    ) {
        self.target = target
        self.tls = tls
        self.ca = ca
        self.cert = cert
        self.key = key
    }

    /// The settings of this source, and those of another one about which it says nothing.
    package func over(_ other: Self) -> Self {
        Self(
            target: target ?? other.target,
            tls: tls ?? other.tls,
            ca: ca ?? other.ca,
            cert: cert ?? other.cert,
            key: key ?? other.key
        )
    }

    /// These settings, over those of a profile if they do not name another service than it does:
    /// another one has other certificates.
    package func over(profile: Self) -> Self {
        guard target == nil || address == profile.address else { return self }
        return over(profile)
    }

    /// The address of the service, or of each of a cluster, with the default port if it has none.
    package var addresses: [String] { FeedClient.addresses(of: target) }

    /// The addresses as a target has them.
    package var address: String { addresses.joined(separator: ",") }

    /// The TLS of the connection; nil if it is not secured.
    package var security: ClientTLS? {
        tls == true ? ClientTLS(authorityPath: ca, certificatePath: cert, keyPath: key) : nil
    }

    /// Whether others may read what is sent: the connection leaves the machine without TLS.
    package var isReadable: Bool {
        tls != true && addresses.contains(where: Self.isElsewhere)
    }

    /// Whether no other member of a cluster is connected to: a key, a session or a password that is not
    /// secured stays on the machine, unless that is expressly no matter.
    package var staysAtAddresses: Bool { tls == nil && !isReadable }

    private static func isElsewhere(_ address: String) -> Bool {
        guard let colon = address.lastIndex(of: ":") else { return false }
        let host = address[..<colon]
        let isLoopback =
            host.hasPrefix("127.") && host.allSatisfy { $0.isWholeNumber || $0 == "." }
        return !isLoopback && host != "localhost" && host != "[::1]"
    }

    /// What is wrong with the settings of all sources together; nil if nothing is.
    package var problem: String? {
        if tls == nil {
            for case (let flag, let path?) in [("--ca", ca), ("--cert", cert), ("--key", key)] {
                return "\(flag): expected --tls with it, got \(path) alone."
            }
        }
        return (cert == nil) == (key == nil) ? nil : "--cert and --key: expected both or neither."
    }

    /// The same settings from any working directory.
    package var withWholePaths: Self {
        func whole(_ path: String?) -> String? {
            path.map {
                $0.hasPrefix("/") ? $0 : "\(FileManager.default.currentDirectoryPath)/\($0)"
            }
        }
        return Self(target: address, tls: tls, ca: whole(ca), cert: whole(cert), key: whole(key))
    }
}

/// The variables of the environment that stand for flags of every command.
package struct Variables {
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

    package var target: TargetSettings {
        TargetSettings(
            target: values["TARGET"],
            tls: values["TLS"].map { $0 == "true" },
            ca: values["CA"],
            cert: values["CERT"],
            key: values["KEY"]
        )
    }

    package var profile: String? { values["PROFILE"] }

    package var serviceKeyFile: String? { values["SERVICE_KEY_FILE"] }
}

/// A variable of the environment is wrong: a sentence that begins with its name.
package struct VariableError: Error, CustomStringConvertible {
    package let description: String
}
