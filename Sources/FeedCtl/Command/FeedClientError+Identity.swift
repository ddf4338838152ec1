package import FeedClient
internal import FeedProto

extension FeedClientError {
    /// The error; where an identity is missing, with the flags that give one.
    package func naming(identityFlags: String) -> FeedClientError {
        guard case .refused(var status) = self, status.reason == .identityRequired else {
            return self
        }
        status.message += " (\(identityFlags))"
        return .refused(status)
    }

    /// The error; where there is no connection, with the address of the service.
    package func naming(target: String) -> FeedClientError {
        guard case .cannotConnect(let reason) = self else { return self }
        return .cannotConnect(reason: "\(target): \(reason)")
    }
}
