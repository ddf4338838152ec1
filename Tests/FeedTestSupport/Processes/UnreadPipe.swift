package import Foundation
internal import Glibc

/// A full pipe that nobody reads, as standard error of a process: each write to it waits.
@safe
package final class UnreadPipe: Sendable {
    private let path: String
    private let descriptor: Int32

    package init(at path: String) throws {
        self.path = path
        guard unsafe mkfifo(path, 0o600) == 0 else {
            throw SpawnFailure(program: "mkfifo", number: errno)
        }
        // Only this end does not wait: the program opens another.
        descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SpawnFailure(program: "open", number: errno) }
        while unsafe write(descriptor, "x", 1) == 1 {}
    }

    deinit { close(descriptor) }

    /// Starts a program whose standard error the pipe is.
    package func start(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> RunningProcess {
        try RunningProcess(
            URL(filePath: "/bin/sh"),
            ["-c", #"exec "$0" "$@" 2>"$UNREAD""#, executable.path()] + arguments,
            environment: environment.merging(["UNREAD": path]) { $1 }
        )
    }
}
