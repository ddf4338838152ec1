internal import FeedAccounts
internal import FeedProto

/// How a caller becomes a service: Hello shows a key.
extension CallEnvironment {
    /// Checks the key of a Hello; nil where it shows none.
    ///
    /// Without `--service-keys` the callers of this machine are services with any key or none.
    ///
    /// - Throws: The refusal of a key that is not valid; the caller stays what it was.
    func serviceKey(
        _ bytes: [UInt8],
        of caller: borrowing Caller
    ) throws(Status) -> ServiceKeys.Shown? {
        guard !bytes.isEmpty, !caller.isOnTrustedHost else { return nil }
        // The length first: a long text is not hashed.
        guard let secret = SessionToken(bytes: bytes),
            let found = context.serviceKeys?.find(secret.hash)
        else {
            log.unknownServiceKey(from: caller.host)
            throw .badServiceKey
        }
        log.serviceIntroduced(found.name, from: caller.host)
        return found.shown
    }

    /// Takes the role of a service from a caller whose key has become void.
    @inline(__always)
    func renewServiceKey(of caller: inout Caller) {
        guard let shown = caller.serviceKey else { return }
        caller.serviceKey = context.serviceKeys?.renewed(shown)
    }
}
