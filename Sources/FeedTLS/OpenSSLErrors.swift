internal import COpenSSL

/// The errors that OpenSSL has noted for the calling thread.
enum OpenSSLErrors {
    /// Forgets them: an old one would be taken for the reason of the next failure.
    static func clear() { ERR_clear_error() }

    /// The reason of the first one, in OpenSSL's words, and its code; forgets all.
    static func take() -> (code: Int32, text: String) {
        let error = ERR_get_error()
        defer { clear() }
        guard error != 0 else { return (0, "the connection broke") }
        let code = ERR_GET_REASON(error)
        guard let reason = unsafe ERR_reason_error_string(error) else {
            return (code, "error \(code) of OpenSSL")
        }
        return (code, unsafe String(cString: reason))
    }
}
