import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Passwords, tokens and keys are in no line of the log, no file, no backup, and no longer in memory
/// once their calls are answered.
@Suite(.timeLimit(.minutes(10)))
struct SecretTests {
    @Test(
        "T-AUTH-10: nothing shows a secret after its call",
        arguments: TestEnvironment.seeds(1...1)
    )
    func nothingShowsASecretAfterItsCall(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let key = try await Self.makeKey("service", in: directory)
        let operatorKey = try await Self.makeKey("operator", in: directory)
        let data = "\(directory.path)/data"
        let arguments = ["--threads", "1", "--service-keys", "\(directory.path)/keys"]
        let service = try await DurableService.start(data, arguments)
        let process = service.process

        let (secrets, found) = try await offload {
            var planter = try SecretPlanter(
                port: service.port,
                serviceKey: key,
                operatorKey: operatorKey,
                seed: seed
            )
            // What is looked for is found where it is: the service waits for the rest of a frame.
            process.signal(SIGSTOP)
            let half = try Self.names(of: [planter.half.secret], inMemoryOf: process.id)
            process.signal(SIGCONT)
            #expect(!half.isEmpty, "seed \(seed)")

            try planter.plantAll()
            return (planter.secrets, try Self.names(of: planter.secrets, inMemoryOf: process.id))
        }
        #expect(found.isEmpty, "seed \(seed)")
        #expect(await service.stop() == 0)
        #expect(try Self.names(of: secrets, inFilesOf: data) == [], "seed \(seed)")
        let lines = Array(process.output.joined(separator: "\n").utf8)
        #expect(SecretSearch(secrets, \.spellings).names(in: lines) == [], "seed \(seed)")
    }

    /// Makes a key of a role, with the role's name, and adds its line to the service's file.
    private static func makeKey(
        _ role: String,
        in directory: TemporaryDirectory
    ) async throws -> [UInt8] {
        let path = "\(directory.path)/\(role).key"
        let process = try RunningProcess(
            Programs.feedService,
            ["new-service-key", role, path, "--role", role]
        )
        let (status, output) = await process.finish()
        try #require(status == 0, "\(output)")
        let line = try #require(output.first { $0.hasPrefix("\(role) blake2b:") })
        let file = "\(directory.path)/keys"
        let others = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        try Data("\(others)\(line)\n".utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let digits = try String(contentsOfFile: path, encoding: .utf8).prefix { $0.isHexDigit }
        return stride(from: 0, to: digits.count, by: 2).compactMap { offset in
            let start = digits.index(digits.startIndex, offsetBy: offset)
            return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
        }
    }

    /// The secrets that are in the memory of a process, and where.
    private static func names(
        of secrets: [PlantedSecret],
        inMemoryOf process: Int32
    ) throws -> Set<String> {
        let search = SecretSearch(secrets, \.spellings)
        var found: Set<String> = []
        try ProcessMemory(of: process).visit { bytes, place in
            for name in search.names(in: bytes) { found.insert("\(name), \(place)") }
        }
        return found
    }

    /// The secrets that are in the files of a directory and in its folders, and where.
    private static func names(
        of secrets: [PlantedSecret],
        inFilesOf directory: String
    ) throws -> Set<String> {
        let search = SecretSearch(secrets, \.spellings)
        var found: Set<String> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)") else {
                continue
            }
            for secret in search.names(in: [UInt8](bytes)) { found.insert("\(secret), \(name)") }
        }
        return found
    }
}
