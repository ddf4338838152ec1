internal import ArgumentParser
internal import FeedClient
internal import Foundation

/// The options of every command that say where the service is and how the connection to it is secured.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service. (default: that of feedctl login, else \(FeedClient.defaultAddress))",
            valueName: "host[:port]"
        )
    )
    var target: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Secure the connection with TLS 1.3, and check the name in the certificate."
    )
    var tls: Bool?

    @Option(
        help: ArgumentHelp(
            "With --tls: the certificates that vouch for the service's. (default: the system's)",
            valueName: "file"
        )
    )
    var ca: String?

    @Option(
        help: ArgumentHelp("With --tls: the certificate to show the service.", valueName: "file")
    )
    var cert: String?

    @Option(
        help: ArgumentHelp("With --tls: the private key of the certificate.", valueName: "file")
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The folder with the device's id and the session. (default: feedctl in XDG_CONFIG_HOME)",
            valueName: "folder"
        )
    )
    var profile: String?

    /// The variables `FEEDCTL_*`.
    var variables: Variables {
        get throws { try Variables(ProcessInfo.processInfo.environment) }
    }

    /// The folder of the profile.
    var folder: String {
        get throws {
            try profile ?? variables.profile
                ?? Profile.defaultPath(ProcessInfo.processInfo.environment)
        }
    }

    /// What `feedctl login` has kept; nothing where nobody has signed in.
    var kept: TargetSettings {
        get throws { try Profile.target(in: folder) }
    }

    /// What the flags say, else the variables, else the profile.
    func settings() throws -> TargetSettings {
        let flags = TargetSettings(target: target, tls: tls, ca: ca, cert: cert, key: key)
        let settings = try flags.over(variables.target).over(profile: kept)
        if let problem = settings.problem { throw ValidationError(problem) }
        return settings
    }
}
