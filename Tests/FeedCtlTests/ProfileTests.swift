import FeedClient
import FeedCtl
import Foundation
import Testing

/// What feedctl keeps of a person between two commands.
struct ProfileTests {
    /// Runs `body` with a profile in a folder of its own.
    private static func withProfile(_ body: (Profile) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(try Profile(path: folder.path()))
    }

    @Test func theIdOfADeviceIsDrawnOnce() throws {
        try Self.withProfile { profile in
            let id = try profile.clientID()
            #expect(try profile.clientID() == id)
        }
    }

    @Test(
        "a file without an id is an error, and no new id takes its place",
        arguments: [[], [0xFF, 0xFE, 0x41], Array("0011".utf8), Array(repeating: 0x67, count: 32)]
    )
    func aFileWithoutAnIDStaysAsItIs(_ bytes: [UInt8]) throws {
        try Self.withProfile { profile in
            let file = profile.path + "/client-id"
            try Data(bytes).write(to: URL(filePath: file))
            let error = #expect(throws: ProfileError.self) { try profile.clientID() }
            #expect(
                error?.description == """
                    The profile \(file) cannot be used: it is not one line of 32 hexadecimal digits.
                    """
            )
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(bytes))
        }
    }

    @Test func aFileThatCannotBeReadIsNoMissingFile() throws {
        try Self.withProfile { profile in
            // Nobody can read a folder as a file, root included.
            let file = profile.path + "/client-id"
            try FileManager.default.createDirectory(
                atPath: file,
                withIntermediateDirectories: false
            )
            let error = #expect(throws: ProfileError.self) { try profile.clientID() }
            #expect(
                error?.description == "The profile \(file) cannot be used: Is a directory."
            )
        }
    }

    @Test func aFolderIsNoSession() throws {
        try Self.withProfile { profile in
            let file = profile.path + "/session"
            try FileManager.default.createDirectory(
                atPath: file,
                withIntermediateDirectories: false
            )
            let error = #expect(throws: ProfileError.self) { try profile.sessions() }
            #expect(error?.description.contains("it is a folder") == true)
        }
    }

    @Test func aServiceThatIsNotThereIsNamed() {
        let error = FeedClientError.cannotConnect(reason: "Nothing listens.")
        let named = error.naming(target: "127.0.0.1:7433")
        #expect(
            named.description == "No connection to the service: 127.0.0.1:7433: Nothing listens."
        )
        #expect(named.isUnreachable)
        #expect(FeedClientError.closed.naming(target: "127.0.0.1:7433") == .closed)
    }
}
