internal import ArgumentParser
internal import FeedTLS
internal import FeedTransport

/// The flags of secured addresses.
struct TLSFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An address to listen on with TLS 1.3; give it again for more. Without --listen it is "
                + "the only one.",
            valueName: "host:port"
        )
    )
    var listenTls: [String] = []

    @Option(
        "file",
        "The certificate of --listen-tls in PEM, then those that it depends on. SIGHUP reads "
            + "the files again."
    )
    var tlsCert: String?

    @Option("file", "The private key of the certificate in PEM; only its owner may read it.")
    var tlsKey: String?

    @Option(
        "file",
        "Clients of --listen-tls must show a certificate that one of these certificates has "
            + "signed."
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
        let addresses = try flags.listenTls.map { (text) throws(ServiceStartError) in
            try SocketAddress(text, of: "--listen-tls")
        }
        let adminAddress = try operation.tlsAddress
        let paths = TLSServerFiles(
            certificate: TLSCertificateFiles(certificatePath: certificate, keyPath: key),
            clientAuthorityPath: flags.tlsClientCa
        )
        do throws(TLSFileError) {
            self.init(addresses: addresses, files: paths, context: try .server(paths))
            admin = try adminAddress.map { (address) throws(TLSFileError) in
                try Admin(address, paths)
            }
        } catch {
            throw .badFlag(first, "\(error)")
        }
    }
}

/// The flags of the operator's address.
struct AdminFlags: ParsableArguments {
    @Option(
        "host:port",
        "The operator's address: HTTP with /metrics, /live, /ready and a dashboard. Port 0 takes a "
            + "free one. (default: none)"
    )
    var admin: String?

    @Option(
        "host:port",
        "The operator's address with TLS 1.3, for other machines: a reader shows a service key with "
            + "a role other than app, or a certificate. Needs --tls-cert and --tls-key. "
            + "(default: none)"
    )
    var adminTls: String?

    @Flag(help: "Allow an --admin that is not loopback: everybody reads how the service is doing.")
    var adminInsecure = false

    /// The plain address, which is loopback without `--admin-insecure`; nil if none is given.
    var address: SocketAddress? {
        get throws(ServiceStartError) {
            guard let admin else { return nil }
            let address = try SocketAddress(admin, of: "--admin")
            guard address.isLoopback || adminInsecure else {
                throw .badFlag(
                    "--admin",
                    "\(address) is not a loopback address: everybody could read how the service is "
                        + "doing. Take --admin-tls, or add --admin-insecure to allow that."
                )
            }
            return address
        }
    }

    fileprivate var tlsAddress: SocketAddress? {
        get throws(ServiceStartError) {
            guard let adminTls else { return nil }
            return try SocketAddress(adminTls, of: "--admin-tls")
        }
    }
}

/// The flag of the proxies in front of the service.
struct ProxyFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The connections of these hosts begin with a header of the PROXY protocol, version 1 or 2, "
                + "and count for the client that it names; others of theirs are refused. Give it again "
                + "for more.",
            valueName: "cidr"
        )
    )
    var proxyProtocolFrom: [String] = []
}

extension ServiceConfiguration {
    /// Takes the networks of proxies, behind which somebody has to prove who calls.
    mutating func take(_ flags: ProxyFlags, insecure: Bool) throws(ServiceStartError) {
        for text in flags.proxyProtocolFrom {
            do throws(TransportError) {
                proxies.append(try HostNetwork(parsing: text))
            } catch {
                throw .badFlag("--proxy-protocol-from", "\(error)")
            }
        }
        guard proxies.isEmpty || insecure || asksWhoCalls else {
            throw .badFlag(
                "--proxy-protocol-from",
                "clients behind a proxy may be anybody, and nobody would have to prove who calls. Add "
                    + "--service-keys or --tls-client-ca, or --insecure to allow that."
            )
        }
    }
}
