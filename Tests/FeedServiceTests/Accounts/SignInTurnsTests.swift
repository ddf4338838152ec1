import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// One host's sign-ins beside those of others.
@Suite(.timeLimit(.minutes(2))) struct SignInTurnsTests {
    /// Waits until the service has queued or refused what was sent; returns the refusals.
    private static func settle(_ client: WireClient) throws -> [Status] {
        var refusals: [Status] = []
        // The first answer may leave before the sign-ins of its iteration are queued, the second may not.
        for _ in 0..<2 {
            let ping = try client.send(.ping(PingRequest()))
            while let frame = try client.receive(), frame.id != ping {
                if let status = frame.status { refusals.append(status) }
            }
        }
        return refusals
    }

    /// Twenty hosts have as many sign-ins under way as there is room for.
    @Test("T-AUTH-6: the sign-ins of many hosts keep no other host out")
    func hostsTakeTurns() async throws {
        let passwords = CountedPasswords(isGated: true)
        try await withService {
            passwords.install(&$0)
        } _: { port in
            let first = try WireClient(port: port)
            try first.send(.signIn(SignInRequest(email: "first@x", password: "password")))
            passwords.begun.wait()
            let flood = try (2...21 as ClosedRange<UInt32>).map {
                try WireClient(port: port, from: 0x7f00_0000 + $0)
            }
            var refusedCount = 0
            for (number, client) in flood.enumerated() {
                for _ in 0..<3 {
                    let request = SignInRequest(email: "\(number)@x", password: "password")
                    try client.send(.signIn(request))
                }
                refusedCount += try Self.settle(client).count
            }
            #expect(refusedCount > 0)
            let honest = try (1...3 as ClosedRange<UInt32>).map {
                try WireClient(port: port, from: 0x7f00_0100 + $0)
            }
            for client in honest {
                try client.send(.signIn(SignInRequest(email: "honest@x", password: "password")))
                #expect(try Self.settle(client) == [])
            }
            // Each host of the flood has waited longer, and has one turn before them.
            for _ in 0..<24 { passwords.gate.signal() }
            for client in honest {
                #expect(try client.receive()?.status?.reason == .badCredentials)
            }
            #expect(passwords.runCount <= 25)
            for _ in 0..<40 { passwords.gate.signal() }
        }
    }

    @Test("T-AUTH-5: a key that everybody has is no peer: wrong passwords count for the host")
    func anAppKeyIsNoPeer() async throws {
        try await withTestKeys { port, keys in
            func client(from host: UInt32) throws -> WireClient {
                let client = try WireClient(port: port, from: host)
                let hello = HelloRequest(serviceKey: keys.app.bytes)
                #expect(try client.refusal(.hello(hello)) == nil)
                return client
            }
            let attacker = try client(from: 0x7f00_0002)
            for number in 0..<6 {
                let status = try attacker.signIn("\(number)@x", password: "wrong one").status
                #expect(status?.reason == .badCredentials)
            }
            #expect(try attacker.signIn("6@x").status?.reason == .rateLimited)
            #expect(try client(from: 0x7f00_0002).signIn("7@x").status?.reason == .rateLimited)
            let other = try client(from: 0x7f00_0003)
            #expect(try other.signUp("8@x").status == nil)
            #expect(try other.signIn("8@x").status == nil)
        }
    }
}
