import FeedTransport

/// One try to connect: which addresses of the service are still to be tried, and for how long.
struct Dialer {
    /// How long each address may take.
    let timeout: Duration
    /// How long all of them may take.
    let wholeTimeout: Duration
    /// How the connection is secured; nil where it is not.
    let security: TLSTarget?
    private var addresses: ArraySlice<SocketAddress>
    private var lastError: TransportError?

    /// A try of some addresses in their order, which share the time.
    init(_ addresses: [SocketAddress], timeout: Duration, security: TLSTarget?) {
        self.security = security
        self.addresses = addresses[...]
        self.timeout = timeout / max(1, addresses.count)
        wholeTimeout = timeout
    }

    /// The next address; nil after the last one.
    mutating func next() -> SocketAddress? { addresses.popFirst() }

    /// An address did not answer.
    mutating func failed(_ error: TransportError) {
        lastError = error
    }

    /// Why none of the addresses answered: the last error.
    var ending: Ending {
        .cannotConnect(lastError?.description ?? "The service has no address.")
    }
}
