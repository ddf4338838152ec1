internal import FeedJournal
internal import Foundation

/// A refusal to start, for an operator: what is wrong, what it means, and what to type next.
///
/// `docs/REFUSALS.md` shows each of them, in the same words.
package struct StartRefusal: Error, Equatable, Sendable {
    struct Step: Equatable, Sendable {
        var text: String
        var commands: [String] = []
    }

    /// What the process exits with: ``StateStartError/exitStatus``.
    package let exitStatus: Int32
    let problem: String
    /// What would be lost, or that nothing is.
    let meaning: String
    let steps: [Step]

    /// The refusal of a directory, with the commands for it and the backups that it has.
    ///
    /// `command` is what was typed, to be typed again where it was right. Where `state.db` cannot be used and
    /// no remedy is given, the backups and the journal are read for one.
    package init(
        _ error: StateStartError,
        directory path: String,
        command: RefusedCommand = .serve(),
        remedy: StateRemedy? = nil
    ) {
        exitStatus = error.exitStatus
        problem = "\(error)"
        let words = RefusalWords(path: path, command: command) { left in
            remedy ?? StateRemedy.find(path: path, beyond: left)
        }
        (meaning, steps) = words.consequences(of: error)
    }

    package init(_ error: RestoreError, of source: RestoreSource, into path: String) {
        exitStatus = error.exitStatus
        problem = "\(error)"
        let words = RefusalWords(path: path) { _ in .noBackup }
        (meaning, steps) = words.consequences(of: error, source)
    }

    package init(_ error: RestoreError, of backup: String, inPlaceOf path: String) {
        exitStatus = error.exitStatus
        problem = "\(error)"
        let words = RefusalWords(path: path) { StateRemedy.find(path: path, beyond: $0) }
        (meaning, steps) = words.consequences(ofInPlace: error, backup)
    }
}

extension StartRefusal: CustomStringConvertible {
    package var description: String {
        var lines = [problem, "  What it means: \(meaning)"]
        for step in steps {
            lines.append("  What to do: \(step.text)")
            lines += step.commands.map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}

package enum RefusedCommand: Equatable, Sendable {
    /// A start, with the last record that is left of a loss that it accepts.
    case serve(acceptedLoss: UInt64? = nil)
    /// A start as a node of a cluster.
    case serveNode
    case newInstance
    case beginCluster
    case recoverCluster
}

/// The commands of a shell that a refusal names for one directory.
struct RefusalCommands {
    let path: String

    /// The backups below the directory, the newest first; those that a person has renamed come last,
    /// as their names tell no time.
    var backups: [String] {
        let folder = "\(path)/\(BackupFolders.directory)"
        let names = (try? POSIXFiles.names(atPath: folder)) ?? nil
        let found = (names ?? []).sorted(by: >).filter {
            FileManager.default.fileExists(atPath: "\(folder)/\($0)/\(StateDatabase.fileName)")
        }
        let named = found.filter { BackupFolders.time(of: $0) != nil }
        return named + found.filter { !named.contains($0) }
    }

    /// A directory beside the damaged one that is not there yet.
    var restored: String {
        var base = path
        while base.count > 1, base.hasSuffix("/") { base.removeLast() }
        // Beside the data directory, and not among its backups.
        let parents = base.split(separator: "/", omittingEmptySubsequences: false)
        if parents.count > 2, parents[parents.count - 2] == BackupFolders.directory {
            base = parents.dropLast(2).joined(separator: "/")
        }
        var name = "\(base).restored"
        var number = 2
        while FileManager.default.fileExists(atPath: name) {
            name = "\(base).restored-\(number)"
            number += 1
        }
        return name
    }

    /// Starts the service on a directory that was restored: where it was not, nothing is made.
    func serveRestored(_ path: String) -> String { serve(path, "--must-exist") }

    func serve(_ path: String? = nil, _ flags: String...) -> String {
        (["feed-service", "--data-dir", Self.quoted(path ?? self.path)] + flags)
            .joined(separator: " ")
    }

    func restoreInPlace(_ backup: String) -> String {
        "feed-service restore --in-place \(Self.quoted(backup)) \(Self.quoted(path))"
    }

    func restore(_ source: RestoreSource, into directory: String) -> String {
        let words = source.flags + [source.path, directory]
        return (["feed-service", "restore"] + words.map(Self.quoted)).joined(separator: " ")
    }

    static func quoted(_ path: String) -> String {
        let plain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+,:@%=".utf8.contains(byte)
            }
        }
        guard !plain || path.isEmpty else { return path }
        return "'" + path.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
