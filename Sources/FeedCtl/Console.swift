internal import Foundation

enum Console {
    /// How long a notice waits until standard error takes it.
    private static let noticeLimit = Duration.seconds(1)
    /// The bytes that a pipe takes at once if it takes any, and some less.
    private static let noticePartByteCount = 512

    /// Writes a text to standard output; a reader that has gone away is no error, but a full disk is.
    static func write(_ text: String) throws(ConsoleError) { _ = try writeWhileRead(text) }

    /// Writes a text, for a command that has no other end than that of its reader; whether there is one.
    static func writeWhileRead(_ text: String) throws(ConsoleError) -> Bool {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            return true
        } catch {
            let cause = error.systemCause
            guard cause.domain != NSPOSIXErrorDomain || cause.code != Int(EPIPE) else {
                return false
            }
            throw ConsoleError(reason: error.systemReason)
        }
    }

    /// Writes a notice for people to standard error; it is lost if nobody reads it within a second.
    ///
    /// A command must do its work also if its notices are not read.
    static func notify(_ text: String) {
        var rest = Data(text.utf8)
        while !rest.isEmpty, Terminal.canNotify(within: noticeLimit) {
            let part = rest.prefix(noticePartByteCount)
            guard (try? FileHandle.standardError.write(contentsOf: part)) != nil else { return }
            rest = rest.dropFirst(part.count)
        }
    }

    /// Prepares the standard streams.
    ///
    /// A reader that has gone away is an error of the next write, and does not end the process in its work.
    /// Descriptors that the caller closed are occupied: otherwise a socket would get one, and with it what
    /// is written there. Writing to these fails.
    static func holdStandardStreams() {
        signal(SIGPIPE, SIG_IGN)
        _ = heldStreams
    }

    /// Held as long as the process lives.
    private static let heldStreams: [FileHandle] = {
        var held: [FileHandle] = []
        while let place = FileHandle(forReadingAtPath: "/dev/null"),
            place.fileDescriptor <= STDERR_FILENO
        {
            held.append(place)
        }
        return held
    }()
}

/// The output of a command could not be written.
struct ConsoleError: Error, CustomStringConvertible {
    let reason: String

    var description: String { "The output could not be written: \(reason)" }
}
