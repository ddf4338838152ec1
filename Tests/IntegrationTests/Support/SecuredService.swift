import FeedTestSupport
import Foundation
import Testing

/// The service as a process of its own, on a free port with TLS, and the certificates of a test.
struct SecuredService {
    let process: RunningProcess
    let port: UInt16
    let certificates: TestCertificates

    /// Makes an authority and a certificate `server`, starts the service and waits for its start line.
    static func start(
        _ certificates: TestCertificates,
        clientAuthority: String? = nil,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> SecuredService {
        try certificates.add(.init("server"))
        var flags = [
            "--in-memory", "--listen-tls", "127.0.0.1:0", "--tls-cert",
            certificates.certificate("server"), "--tls-key", certificates.key("server"),
        ]
        if let clientAuthority {
            flags += ["--tls-client-ca", certificates.certificate(clientAuthority)]
        }
        let process = try RunningProcess(
            Programs.feedService,
            flags + arguments,
            environment: environment
        )
        let line = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        let address = try #require(line.firstMatch(of: /listening on 127\.0\.0\.1:(\d+) \(TLS\)/))
        return SecuredService(
            process: process,
            port: try #require(UInt16(address.1)),
            certificates: certificates
        )
    }

    /// Asks the service to stop and waits for its exit status.
    func stop() async -> Int32 {
        process.signal(SIGTERM)
        return await process.exitStatus()
    }

    /// The status and the output of `openssl s_client`, which connects and ends.
    func openssl(_ arguments: [String] = []) async throws -> (status: Int32, output: String) {
        let command = try #require(Programs.command("openssl"))
        let process = try RunningProcess(
            command,
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile",
                certificates.certificate("ca"), "-verify_return_error", "-alpn", "feed/1",
            ] + arguments
        )
        let (status, output) = await process.finish()
        return (status, output.joined(separator: "\n"))
    }

    /// The status and the output of a program in Python, which gets the port and the authority's file.
    func python(
        _ program: String,
        _ arguments: [String] = []
    ) async throws -> (
        status: Int32, output: String
    ) {
        let command = try #require(Programs.command("python3"))
        let process = try RunningProcess(
            command,
            ["-c", program, "\(port)", certificates.certificate("ca")] + arguments
        )
        let (status, output) = await process.finish()
        return (status, output.joined(separator: "\n"))
    }

    /// Has the service read its certificate again, and waits for the line that says what came of it.
    func reload() async -> String? {
        let isResult: @Sendable (String) -> Bool = { line in
            line.contains("new TLS connections get") || line.contains("stays as it was")
        }
        let rest = Locked(process.output.count(where: isResult))
        process.signal(SIGHUP)
        // The lines of earlier reloads come first.
        return await process.line { line in
            guard isResult(line) else { return false }
            return rest.withLock { rest in
                rest -= 1
                return rest < 0
            }
        }
    }
}
