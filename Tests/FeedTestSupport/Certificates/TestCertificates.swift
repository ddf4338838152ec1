internal import Foundation

/// Certificates that the `openssl` command makes in a folder of its own for one test.
package final class TestCertificates: Sendable {
    package struct Owner: Sendable {
        package var name: String
        /// Its alternative names, as `DNS:localhost,IP:127.0.0.1`.
        package var alternativeNames: String
        /// How many days from now it is valid; none where it has expired.
        package var days: Int
        package var authority: String

        /// A certificate of this machine, unless other names are given.
        package init(
            _ name: String,
            alternativeNames: String = "DNS:localhost,IP:127.0.0.1",
            days: Int = 30,
            authority: String = "ca"
        ) {
            self.name = name
            self.alternativeNames = alternativeNames
            self.days = days
            self.authority = authority
        }
    }

    /// The `openssl` command could not do what it was asked for.
    package struct Failure: Error {
        package let output: String
    }

    package let folder: String

    /// A folder with an authority `ca`.
    package init() throws {
        folder = "/tmp/feed-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try addAuthority("ca")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    package func certificate(_ name: String) -> String { "\(folder)/\(name).pem" }

    package func key(_ name: String) -> String { "\(folder)/\(name).key" }

    /// Adds an authority, which signs certificates of others.
    package func addAuthority(_ name: String) throws {
        try run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key(name), "-out", certificate(name), "-subj", "/CN=\(name)", "-days", "30",
        ])
    }

    package func add(_ owner: Owner) throws {
        let request = "\(folder)/\(owner.name).csr"
        let extensions = "\(folder)/\(owner.name).ext"
        try Data("subjectAltName=\(owner.alternativeNames)\n".utf8)
            .write(to: URL(filePath: extensions))
        try run([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            key(owner.name), "-out", request, "-subj", "/CN=\(owner.name)",
        ])
        try run([
            "x509", "-req", "-in", request, "-CA", certificate(owner.authority), "-CAkey",
            key(owner.authority), "-CAcreateserial", "-days", "\(owner.days)", "-extfile",
            extensions, "-out", certificate(owner.name),
        ])
    }

    package func run(_ arguments: [String]) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = Programs.command("openssl")
        process.arguments = arguments
        process.standardError = output
        process.standardOutput = output
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(output: String(decoding: printed, as: UTF8.self))
        }
    }
}
