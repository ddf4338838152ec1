import FeedService
import FeedTLS
import FeedTestSupport

/// Keys of two services and of each other role, and the set of all of them.
struct TestKeys: Sendable {
    let web = NewServiceKey(name: "web")
    let batch = NewServiceKey(name: "batch")
    let app = NewServiceKey(name: "app", role: .app)
    let reader = NewServiceKey(name: "reader", role: .reader)
    let `operator` = NewServiceKey(name: "operator", role: .operator)
    /// The keys that the service takes.
    let valid: ServiceKeys

    init() {
        valid = ServiceKeys([web.key, batch.key, app.key, reader.key, `operator`.key])
    }

    /// Makes the certificate of `spiffe://test/ROLE` valid for each role, beside the keys.
    func nameCertificates() {
        let roles = KeyRole.allCases.map { role in
            ServiceKey(
                name: "certificate-\(role.rawValue)",
                proof: .certificate(.uri("spiffe://test/\(role.rawValue)")),
                role: role
            )
        }
        valid.replace(with: [web.key, batch.key, app.key, reader.key, `operator`.key] + roles)
    }
}

extension NewServiceKey {
    /// The key as Hello shows it.
    var bytes: [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).map { index in
            let start = digits.index(digits.startIndex, offsetBy: index)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }
}

/// Runs the body with a service that takes keys, and hashes passwords at once.
func withTestKeys(
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16, TestKeys) throws -> Void
) async throws {
    let keys = TestKeys()
    func take(_ configuration: inout ServiceConfiguration) {
        configuration.serviceKeys = keys.valid
        configure(&configuration)
    }
    try await withAccounts(threads: 1, take) { port in try body(port, keys) }
}
