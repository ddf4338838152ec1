#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// How a service forgets the secrets of a message: its bytes are overwritten where they are, so that all
// values that share them lose them, too.

extension ClientFrame {
    /// Whether the request may have a secret: a password, a token or a key.
    ///
    /// A call that this version does not know may have one, too.
    package var hasSecret: Bool {
        switch request {
        case .signUp, .signIn, .changePassword, .changeEmail, .resetPassword, .deleteAccount, nil:
            true
        case .hello(let request): !request.sessionToken.isEmpty || !request.serviceKey.isEmpty
        default: false
        }
    }

    /// Overwrites the secrets of a request that was decoded.
    ///
    /// The request has no secrets afterwards, nor has any copy of it.
    package func overwriteSecrets() {
        switch request {
        case .signUp(let request): request.password.utf8.overwriteInPlace()
        case .signIn(let request): request.password.utf8.overwriteInPlace()
        case .changePassword(let request):
            request.password.utf8.overwriteInPlace()
            request.newPassword.utf8.overwriteInPlace()
        case .changeEmail(let request): request.password.utf8.overwriteInPlace()
        case .deleteAccount(let request): request.password.utf8.overwriteInPlace()
        case .resetPassword(let request):
            request.token.overwriteInPlace()
            request.newPassword.utf8.overwriteInPlace()
        case .hello(let request):
            request.sessionToken.overwriteInPlace()
            request.serviceKey.overwriteInPlace()
        default: break
        }
    }
}

extension UserSession {
    /// Overwrites the token of a session whose answer is encoded, in all copies of it.
    package func overwriteToken() { token.overwriteInPlace() }
}

extension PasswordReset {
    /// Overwrites the token of an answer that is encoded, in all copies of it.
    package func overwriteToken() { token.overwriteInPlace() }
}

extension [UInt8] {
    /// Overwrites the bytes of all arrays that share them; they were made at run time.
    fileprivate func overwriteInPlace() {
        unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            _ = unsafe memset(UnsafeMutableRawPointer(mutating: base), 0, bytes.count)
        }
    }
}
