import FeedClient
import FeedCtl
import FeedProto
import Testing

/// Which failures leave a change in the outbox.
struct QueueTests {
    @Test func aChangeThatMayHaveLeftIsNotQueued() {
        let effects: [CallEffect] = [.none, .unknown]
        let errors: [FeedClientError] =
            effects.flatMap { effect -> [FeedClientError] in
                [
                    .connectionLost(reason: "gone", effect: effect),
                    .deadlinePassed(timeout: .seconds(5), effect: effect),
                    .cancelled(effect: effect), .protocolViolation(reason: "odd", effect: effect),
                ]
            } + [
                .badAddress(reason: "no port"), .inDoubt(.channelForgotten), .closed,
                .refused(Status(code: .unavailable, reason: .draining, message: "")),
                .requestTooLarge(byteCount: 2, limitByteCount: 1),
            ]
        for error in errors { #expect(!error.isUnreachable, "\(error)") }
        #expect(FeedClientError.cannotConnect(reason: "refused").isUnreachable)
        #expect(FeedClientError.unknownHost(name: "nowhere", reason: "none").isUnreachable)
    }
}
