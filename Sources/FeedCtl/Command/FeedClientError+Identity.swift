package import FeedClient
internal import FeedProto

extension FeedClientError {
    /// The error; where an identity or a key is missing, with the flags that give one.
    package func naming(identityFlags: String, keyFlag: String? = nil) -> FeedClientError {
        guard case .refused(var status) = self else { return self }
        let flags: String? =
            switch status.reason {
            case .identityRequired: identityFlags
            case .serviceOnly: keyFlag
            case .roleDenied: keyFlag.map { "a key of another role: \($0)" }
            default: nil
            }
        guard let flags else { return self }
        status.message += " (\(flags))"
        return .refused(status)
    }

    /// The error; where there is no connection, with the address of the service.
    package func naming(target: String) -> FeedClientError {
        guard case .cannotConnect(let reason) = self else { return self }
        return .cannotConnect(reason: "\(target): \(reason)")
    }
}
