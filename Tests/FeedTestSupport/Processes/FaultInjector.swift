internal import Foundation

/// Makes calls of the system fail in a process that it is started with, by libfiu.
///
/// The process is run with ``environment``; faults can be there from the start, or come later.
package final class FaultInjector: Sendable {
    /// A way in which the system's calls on files fail.
    package enum Fault: Sendable {
        /// Every sync of a file's data fails with EIO.
        case failingSync

        /// Every second write takes only some of what it is given.
        case shortWrites

        /// Every tenth write is interrupted by a signal before it has begun.
        case interruptedWrites

        /// Every write fails with EIO.
        case failingWrites

        fileprivate var commands: [String] {
            switch self {
            case .failingSync: ["enable name=posix/io/sync/fdatasync,failinfo=\(EIO)"]
            case .shortWrites:
                ["pwrite", "pwritev"].map {
                    "enable_random name=posix/io/rw/\($0)/reduce,probability=0.5"
                }
            case .interruptedWrites:
                ["pwrite", "pwritev"].map {
                    "enable_random name=posix/io/rw/\($0),probability=0.1,failinfo=\(EINTR)"
                }
            case .failingWrites:
                ["pwrite", "pwritev"].map { "enable name=posix/io/rw/\($0),failinfo=\(EIO)" }
            }
        }
    }

    /// What a test says that is skipped for want of libfiu.
    package static let absence =
        "libfiu is not installed; scripts/install-dependencies.sh --tests installs it"

    /// Whether libfiu and its programs are installed.
    package static var isAvailable: Bool {
        control != nil && libraries.allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    private static let control = Programs.command("fiu-ctrl")

    /// Debian has them below the folder that the programs are in.
    private static let libraries: [String] = {
        guard let control else { return [] }
        let folder = control.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "lib/fiu")
        return ["fiu_run_preload.so", "fiu_posix_preload.so"].map {
            folder.appending(path: $0).path()
        }
    }()

    /// Where the process listens for further faults; its id is appended.
    private let pipes = FileManager.default.temporaryDirectory
        .appending(path: "feed-faults-\(UUID().uuidString)").path()
    private let faults: [Fault]

    /// Faults that are there from the start.
    package init(_ faults: [Fault] = []) { self.faults = faults }

    package var environment: [String: String] {
        [
            "LD_PRELOAD": Self.libraries.joined(separator: " "),
            "FIU_ENABLE": faults.flatMap(\.commands).joined(separator: "\n"),
            "FIU_CTRL_FIFO": pipes,
        ]
    }

    /// Lets a fault begin in a process that was started with ``environment``.
    package func begin(_ fault: Fault, in process: RunningProcess) async throws {
        guard let control = Self.control else { return }
        let commands = fault.commands.flatMap { ["-c", $0] }
        let (status, output) = try await RunningProcess(
            control,
            ["-f", pipes] + commands + ["\(process.id)"]
        ).finish()
        guard status == 0, output.isEmpty else { throw Refusal(output: output) }
    }

    /// Removes what the process has left behind.
    package func clear(_ process: RunningProcess) {
        for end in ["in", "out"] {
            try? FileManager.default.removeItem(atPath: "\(pipes)-\(process.id).\(end)")
        }
    }

    /// The process did not take a fault.
    private struct Refusal: Error {
        let output: [String]
    }
}
