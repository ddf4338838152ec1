internal import Glibc

/// Standard error; a write waits for its reader, so only the thread of an ``OutputThread`` makes one.
package struct StandardError: TextOutputStream, Sendable {
    /// Standard error as the process has it.
    package init() {}

    /// Writes a text; what cannot be written is dropped.
    package func write(_ text: String) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(
                    STDERR_FILENO,
                    bytes.baseAddress?.advanced(by: start),
                    bytes.count - start
                )
            }
            if count >= 0 {
                start += count
            } else if errno == EAGAIN {
                // Another process has made the pipe one that does not wait.
                var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
