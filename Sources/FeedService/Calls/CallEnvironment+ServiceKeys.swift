internal import FeedAccounts
internal import FeedProto

/// How a caller gets the role of a key: Hello shows it, or its certificate has an identity.
extension CallEnvironment {
    /// Checks the key of a Hello; where it shows none, that of the certificate, or nil.
    ///
    /// Without `--service-keys` the callers of this machine may do everything with any key or none.
    ///
    /// - Throws: The refusal of a key that is not valid; the caller stays what it was.
    func serviceKey(
        _ bytes: [UInt8],
        of caller: borrowing Caller
    ) throws(Status) -> ServiceKeys.Shown? {
        guard !bytes.isEmpty, !caller.isOnTrustedHost else { return certificateKey(of: caller) }
        // The length first: a long text is not hashed.
        guard let secret = SessionToken(bytes: bytes),
            let found = context.serviceKeys?.find(secret.hash)
        else {
            log.unknownServiceKey(from: caller.host)
            throw .badServiceKey
        }
        log.keyShown(found.name, found.shown.role, from: caller.host)
        return found.shown
    }

    /// What the caller's certificate makes it now; nil where it has none that the service knows.
    private func certificateKey(of caller: borrowing Caller) -> ServiceKeys.Shown? {
        caller.certificateKey.flatMap { context.serviceKeys?.renewed($0) }
    }

    /// Takes the role of a key from a caller whose key has become void, or gives the key's new one.
    ///
    /// Who has shown a void key is what its certificate makes it.
    @inline(__always)
    func renewServiceKey(of caller: inout Caller) {
        guard let shown = caller.serviceKey else { return }
        let renewed = context.serviceKeys?.renewed(shown)
        guard renewed != shown else { return }
        caller.serviceKey = renewed ?? certificateKey(of: caller)
        guard renewed == nil, let left = caller.allowance else { return }
        if case .admitted(let own) = context.identities.enter(caller.identity, isForced: true) {
            caller.allowance = own
            context.identities.leave(left)
        }
    }

    /// Gives a caller the key of its Hello, or takes its key away, and counts its connection for the
    /// identity that it has then.
    func adopt(_ key: ServiceKeys.Shown?, by caller: inout Caller) throws(Status) {
        let identity = Caller.identity(of: caller.host, key)
        if let left = caller.allowance, left.identity != identity {
            guard case .admitted(let own) = context.identities.enter(identity) else {
                throw .tooManyConnections(ofIdentity: context.limits.identities.connectionCount)
            }
            caller.allowance = own
            context.identities.leave(left)
        }
        caller.serviceKey = key
    }
}
