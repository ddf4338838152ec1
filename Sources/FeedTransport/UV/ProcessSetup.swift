import CLibUV

/// What a program sets for its whole process before it uses sockets.
package enum ProcessSetup {
    /// Lets a write to a closed connection fail instead of ending the process.
    package static func ignoreBrokenPipes() {
        clibuv_ignore_broken_pipes()
    }

    /// Raises the limit of open files as far as the system lets it; answers what it is now.
    package static func raiseOpenFileLimit() -> Int {
        max(0, Int(clibuv_raise_open_file_limit()))
    }
}
