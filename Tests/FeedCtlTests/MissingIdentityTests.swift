import FeedClient
import FeedCtl
import FeedProto
import Testing

/// A refusal for a missing identity or key names the flags that give one.
@Suite struct MissingIdentityTests {
    static let rows: [(Reason, String)] = [
        (.identityRequired, "refused (--client-id)"),
        (.serviceOnly, "refused (--service-key-file)"),
        (.roleDenied, "refused (a key of another role: --service-key-file)"),
        (.rateLimited, "refused"),
    ]

    @Test(arguments: rows)
    func namesTheFlags(_ reason: Reason, _ message: String) {
        let status = Status(code: .permissionDenied, reason: reason, message: "refused")
        let error = FeedClientError.refused(status)
            .naming(identityFlags: "--client-id", keyFlag: "--service-key-file")
        guard case .refused(let named) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(named.message == message)
    }
}
