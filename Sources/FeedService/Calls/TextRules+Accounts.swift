internal import FeedAccounts
internal import FeedProto

/// The passwords and names of accounts.
extension TextRules {
    /// Checks the length of a password: in characters from below, and in bytes from above, as its hash
    /// takes any characters.
    func checkPassword(_ password: SecretText) throws(Status) {
        let byteCount = password.utf8.count
        guard byteCount <= limits.maximumPasswordByteCount else {
            throw .passwordTooLong(byteCount, limit: limits.maximumPasswordByteCount)
        }
        let count = password.characterCount
        guard count >= limits.minimumPasswordCharacterCount else {
            throw .passwordTooShort(count, limit: limits.minimumPasswordCharacterCount)
        }
    }

    /// Checks the name of a new account.
    func checkDisplayName(_ name: String) throws(Status) {
        let byteCount = name.utf8.count
        guard byteCount <= limits.maximumNameByteCount else {
            throw .displayNameTooLong(byteCount, "bytes", limit: limits.maximumNameByteCount)
        }
        guard name.needsWalk(limit: limits.maximumNameCharacterCount) else { return }
        let count = name.count
        guard count <= limits.maximumNameCharacterCount else {
            throw .displayNameTooLong(count, "characters", limit: limits.maximumNameCharacterCount)
        }
    }

    /// The name of an account that was created without one: what is before the `@` of the e-mail,
    /// shortened to the limits of names.
    func displayName(of email: EmailAddress) -> String {
        // The byte is looked for: as a character, an `@` may be one with a combining mark behind it.
        let local = email.text.utf8.prefix { $0 != UInt8(ascii: "@") }
        var name = String(
            String(decoding: local, as: UTF8.self).prefix(limits.maximumNameCharacterCount)
        )
        let limit = limits.maximumNameByteCount
        while name.utf8.count > limit, name.count > 1 { name.removeLast() }
        guard name.utf8.count > limit else { return name }
        // One character that is too long: as many of its scalars as fit in any case.
        return String(String.UnicodeScalarView(name.unicodeScalars.prefix(limit / 4)))
    }
}

extension Status {
    fileprivate static func displayNameTooLong(
        _ count: Int,
        _ unit: StaticString,
        limit: Int
    ) -> Status {
        .invalid(
            .nameTooLong,
            field: "display_name",
            "display_name has \(count) \(unit); the limit is \(limit).",
            limit: UInt64(limit),
            actual: UInt64(count)
        )
    }
}
