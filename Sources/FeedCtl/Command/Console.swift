import Foundation

/// Where the output goes.
enum Console {
    /// Writes a text; a reader that went away is nobody's error, but a full disk is.
    static func write(_ text: String, to file: FileHandle) throws(ConsoleError) {
        do {
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            let cause = error.systemCause
            guard cause.domain != NSPOSIXErrorDomain || cause.code != Int(EPIPE) else { return }
            throw ConsoleError(reason: error.systemReason)
        }
    }

    /// Writes what people may read while it lasts; without them it is lost.
    static func tell(_ text: String) {
        try? write(text, to: .standardError)
    }

    /// Takes the places of standard streams that the caller closed.
    ///
    /// A socket would get such a place, and with it what is written there. Writing to these fails.
    static func holdStandardStreams() { _ = heldStreams }

    /// As long as the process lives.
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
