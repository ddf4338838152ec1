internal import Glibc

/// The system refuses to start a thread.
package struct ThreadStartError: Error, Equatable, CustomStringConvertible {
    /// The thread's name.
    package let name: String
    /// The number of the system's error, as in `errno`.
    package let code: Int32

    /// The refusal of a thread by the system's error.
    package init(name: String, code: Int32) {
        self.name = name
        self.code = code
    }

    package var description: String {
        let reason =
            code == EAGAIN
            ? "there are too many threads, or no memory is left for another" : "error \(code)"
        return "The system does not start the thread \(name): \(reason)."
    }
}
