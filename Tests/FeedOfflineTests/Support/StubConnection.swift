import FeedClient
import FeedProto

/// A connection of a sync whose answers a function makes.
struct StubConnection: NumberedCalling {
    let service: HelloResponse
    let respond: @Sendable (Request) throws(FeedClientError) -> Answer

    func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        try respond(request)
    }

    func make(
        _ changes: [NumberedChange],
        timeout: Duration?
    ) async -> [Result<Answer, FeedClientError>] {
        changes.map { change in
            Result { () throws(FeedClientError) in try respond(change.request) }
        }
    }

    func acting(for userID: UInt64) -> StubConnection { self }
    func close() async {}
}
