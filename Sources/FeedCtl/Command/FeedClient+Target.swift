internal import FeedClient

extension FeedClient {
    /// Connects to a service; where that fails, the error names the address.
    static func connect(
        naming target: String,
        _ configuration: ClientConfiguration
    ) async throws(FeedClientError) -> FeedClient {
        do {
            return try await connect(to: target, configuration: configuration)
        } catch {
            throw error.naming(target: target)
        }
    }
}
