internal import ArgumentParser
internal import FeedTLS
internal import FeedTransport

struct TLSFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "An address to listen on with TLS 1.3; give it again for more. Without --listen it is "
                + "the only one.",
            valueName: "host:port"
        )
    )
    var listenTls: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The certificate of --listen-tls in PEM, then those that it depends on. SIGHUP reads "
                + "the files again.",
            valueName: "file"
        )
    )
    var tlsCert: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The private key of the certificate in PEM; only its owner may read it.",
            valueName: "file"
        )
    )
    var tlsKey: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Clients of --listen-tls must show a certificate that one of these certificates has "
                + "signed.",
            valueName: "file"
        )
    )
    var tlsClientCa: String?
}

extension ServiceTLS {
    /// Checks the flags and reads the files; nil without a secured address.
    init?(_ flags: TLSFlags, _ operation: AdminFlags) throws(ServiceStartError) {
        let files = [
            ("--tls-cert", flags.tlsCert), ("--tls-key", flags.tlsKey),
            ("--tls-client-ca", flags.tlsClientCa),
        ]
        guard !flags.listenTls.isEmpty || operation.adminTls != nil else {
            for case (let flag, let path?) in files {
                throw .badFlag(
                    flag,
                    "expected --listen-tls or --admin-tls with it, got \(path) alone."
                )
            }
            return nil
        }
        let first = flags.listenTls.isEmpty ? "--admin-tls" : "--listen-tls"
        guard let certificate = flags.tlsCert, let key = flags.tlsKey else {
            let missing = flags.tlsCert == nil ? "--tls-cert" : "--tls-key"
            throw .badFlag(missing, "\(first) needs a file, and none was given.")
        }
        var addresses: [SocketAddress] = []
        for text in flags.listenTls {
            do {
                addresses.append(try SocketAddress(parsing: text))
            } catch {
                throw .badFlag("--listen-tls", "\(error)")
            }
        }
        let adminAddress = try operation.tlsAddress
        let paths = TLSServerFiles(
            certificate: TLSCertificateFiles(certificatePath: certificate, keyPath: key),
            clientAuthorityPath: flags.tlsClientCa
        )
        do throws(TLSFileError) {
            self.init(addresses: addresses, files: paths, context: try .server(paths))
            guard let address = adminAddress else { return }
            admin = try Admin(address, paths)
        } catch {
            throw .badFlag(first, "\(error)")
        }
    }
}
