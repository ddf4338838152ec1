internal import ArgumentParser
internal import FeedClient
internal import Foundation

/// The options of the commands for a person: where the service is, and where the person's profile is.
struct PersonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The service.", valueName: "host:port"))
    var target = FeedClient.defaultAddress

    @Option(
        help: ArgumentHelp(
            "The folder with the device's id and the session. (default: feedctl in XDG_CONFIG_HOME)",
            valueName: "folder"
        )
    )
    var profile: String?

    @OptionGroup var timeout: TimeoutOption

    @Flag(help: "Print JSON for programs.")
    var json = false

    /// The configuration of the connection: the device's id, and the session if there is one.
    func configuration() throws -> ClientConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let profile = try Profile(path: profile ?? Profile.defaultPath(environment))
        var configuration = ClientConfiguration()
        configuration.clientName = "feedctl"
        configuration.clientID = try profile.clientID()
        configuration.sessionStore = try profile.sessions()
        configuration.timeout = timeout.duration()
        configuration.connectTimeout = configuration.timeout
        return configuration
    }
}
