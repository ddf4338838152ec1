internal import FeedOffline

extension OfflineError {
    /// The error; where there is no connection, with the address of the service.
    func naming(target: String) -> OfflineError {
        guard case .service(let error) = self else { return self }
        return .service(error.naming(target: target))
    }
}
