import Foundation
import LoadGenCommand
import Testing

/// The files that `--json` and the like name.
@Suite struct OutputFileTests {
    private let manager = FileManager.default

    /// Runs `body` in a folder of its own.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = manager.temporaryDirectory.appending(path: UUID().uuidString).path()
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: folder) }
        try body(folder)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    private func type(_ path: String) throws -> FileAttributeType? {
        try manager.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    @Test func writesIntoTheFileBehindALinkAndKeepsItsMode() throws {
        try withFolder { folder in
            let (file, link) = (folder + "/run.json", folder + "/latest.json")
            let earlier = "a report of an earlier run\n"
            try earlier.write(toFile: file, atomically: true, encoding: .utf8)
            try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: file)
            let output = OutputFile(flag: "--json", path: link)
            try output.check()
            #expect(try text(file) == earlier)
            try output.write("new\n")
            #expect(try text(file) == "new\n")
            #expect(try type(link) == .typeSymbolicLink)
            let mode = try manager.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o640)
        }
    }

    @Test("a missing file is made by the report and not before", arguments: [false, true])
    func makesAMissingFile(_ isLinked: Bool) throws {
        try withFolder { folder in
            let file = folder + "/run.json"
            let path = isLinked ? folder + "/latest.json" : file
            if isLinked {
                try manager.createSymbolicLink(atPath: path, withDestinationPath: file)
            }
            let output = OutputFile(flag: "--json", path: path)
            try output.check()
            #expect(!manager.fileExists(atPath: file))
            try output.write("new\n")
            #expect(try text(file) == "new\n")
            #expect(try type(path) == (isLinked ? .typeSymbolicLink : .typeRegular))
        }
    }

    // A link stands for the device, which a failure of these tests must not replace.

    @Test func leavesADeviceADevice() throws {
        try withFolder { folder in
            let link = folder + "/null"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
            let output = OutputFile(flag: "--html", path: link)
            try output.check()
            try output.write("new\n")
            #expect(try type(link) == .typeSymbolicLink)
            #expect(try type("/dev/null") == .typeCharacterSpecial)
        }
    }

    @Test func knowsTwoPathsToOneFile() throws {
        try withFolder { folder in
            let file = folder + "/run.json"
            let link = folder + "/latest.json"
            func place(_ path: String) -> String? { OutputFile(flag: "--json", path: path).place }
            #expect(place(file) != nil && place(file) == place(folder + "/./run.json"))
            #expect(place(file) != place(folder + "/run.html"))
            try "{}".write(toFile: file, atomically: true, encoding: .utf8)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: file)
            try manager.linkItem(atPath: file, toPath: folder + "/hard.json")
            #expect(place(link) == place(file) && place(folder + "/hard.json") == place(file))
            #expect(place("-") != place(file) && place("/dev/null") == nil)
        }
    }

    @Test func saysThatADiskIsFull() throws {
        try withFolder { folder in
            let link = folder + "/full"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "/dev/full")
            let output = OutputFile(flag: "--json", path: link)
            try output.check()
            let error = #expect(throws: OutputError.self) { try output.write("new\n") }
            let sentence = "--json: \(link) could not be written: No space left on device."
            #expect(error?.description == sentence)
        }
    }

    @Test func refusesBeforeARunWhatCannotBeWritten() throws {
        try withFolder { folder in
            let reasons = [
                folder: "Is a directory", folder + "/none/run.json": "No such file or directory",
            ]
            for (path, reason) in reasons {
                let output = OutputFile(flag: "--hdr", path: path)
                let error = #expect(throws: FlagError.self) { try output.check() }
                #expect(
                    error?.description
                        == "--hdr: expected a file that can be written, got \(path) (\(reason))."
                )
            }
            let nameless = OutputFile(flag: "--json", path: "")
            let error = #expect(throws: FlagError.self) { try nameless.check() }
            #expect(error?.actual == "nothing")
        }
    }
}
