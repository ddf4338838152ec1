import Foundation

/// Where the output goes.
enum Console {
    /// Writes a text; a reader that has gone away is no error, but a full disk is.
    static func write(_ text: String, to file: FileHandle) throws(ConsoleError) {
        _ = try writeWhileRead(text, to: file)
    }

    /// Writes a text, for a command that has no other end than that of its reader.
    ///
    /// - Returns: Whether there is a reader.
    static func writeWhileRead(
        _ text: String,
        to file: FileHandle
    ) throws(ConsoleError) -> Bool {
        do {
            try file.write(contentsOf: Data(text.utf8))
            return true
        } catch {
            let cause = error.systemCause
            guard cause.domain != NSPOSIXErrorDomain || cause.code != Int(EPIPE) else {
                return false
            }
            throw ConsoleError(reason: error.systemReason)
        }
    }

    /// Writes a notice for people to standard error; it is lost where that cannot be written.
    static func notify(_ text: String) {
        try? write(text, to: .standardError)
    }

    /// Occupies the descriptors of standard streams that the caller closed.
    ///
    /// Otherwise a socket would get such a descriptor, and with it what is written there. Writing
    /// to these fails.
    static func holdStandardStreams() { _ = heldStreams }

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
