internal import ArgumentParser
internal import FeedClient

/// The options of a secured connection.
struct TLSOptions: ParsableArguments {
    @Flag(help: "Secure the connection with TLS 1.3, and check the name in the certificate.")
    var tls = false

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

    func validate() throws {
        for case (let flag, let path?) in [("--ca", ca), ("--cert", cert), ("--key", key)]
        where !tls {
            throw ValidationError("\(flag): expected --tls with it, got \(path) alone.")
        }
        guard (cert == nil) == (key == nil) else {
            throw ValidationError("--cert and --key: expected both or neither.")
        }
    }

    /// The TLS of the connection; nil where it is not secured.
    var configuration: ClientTLS? {
        tls ? ClientTLS(authorityPath: ca, certificatePath: cert, keyPath: key) : nil
    }
}
