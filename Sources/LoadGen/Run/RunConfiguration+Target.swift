internal import FeedClient
import FeedTransport

extension RunConfiguration {
    /// The addresses of the target, in the order in which to try them; looks a name up, which blocks.
    func addresses(by lookup: HostLookup) throws(RunFailure) -> [SocketAddress] {
        do throws(TransportError) {
            switch try Endpoint(parsing: target) {
            case .address(let address): return [address]
            case .name(let name, let port): return try lookup.addresses(of: name, port: port)
            }
        } catch .invalidAddress(let text, let cause) {
            throw .badTarget(
                flag: targetFlag,
                TransportError.invalidAddress(text, cause).description
            )
        } catch {
            throw .unreachable(target: target, cause: error.description)
        }
    }

    /// The host of the target as it is written, which the service's certificate has to name.
    var targetHost: String? { ClientSecurity.host(of: target) }

    /// How a connection under load is secured; nil where it is plain.
    var tlsTarget: TLSTarget? {
        security?.target(for: .name(targetHost ?? target, port: 0))
    }
}
