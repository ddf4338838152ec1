/// The system refuses to start a thread: the process has too many, or no memory for another.
package struct ThreadStartError: Error, CustomStringConvertible {
    /// The thread's name.
    package let name: String
    /// The number of the system's error, as in `errno`.
    package let code: Int32

    package var description: String {
        "The system does not start the thread \(name): error \(code)."
    }
}
