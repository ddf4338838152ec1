import FeedClient
import FeedProto
import Testing

/// Expects that a call is refused for a reason and has not been executed; gives the refusal.
@discardableResult
func expectRefusal<Value>(
    _ reason: Reason,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ call: () async throws(FeedClientError) -> Value
) async -> Status? {
    do throws(FeedClientError) {
        _ = try await call()
        Issue.record("not refused", sourceLocation: sourceLocation)
    } catch {
        guard case .refused(let status) = error else {
            Issue.record("\(error)", sourceLocation: sourceLocation)
            return nil
        }
        #expect(status.reason == reason, "\(status)", sourceLocation: sourceLocation)
        #expect(status.isNotExecuted, sourceLocation: sourceLocation)
        return status
    }
    return nil
}
