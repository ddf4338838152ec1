internal import ArgumentParser
internal import FeedTransport

struct ProxyFlags: ParsableArguments {
    @Option(
        name: .long,
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
