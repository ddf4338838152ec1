internal import FeedAccounts

/// A new key: its digits for the program, and its line for the service.
package struct NewServiceKey {
    /// The key as a file of the program has it: 64 hexadecimal digits.
    package let digits: String
    /// The key as the service's file has it.
    package let key: ServiceKey

    /// Draws a key from the system's secure random numbers.
    package init(name: String, role: KeyRole = .service) {
        let secret = SessionToken()
        digits = Hexadecimal.text(secret.bytes)
        key = ServiceKey(name: name, proof: .key(secret.hash), role: role)
    }
}
