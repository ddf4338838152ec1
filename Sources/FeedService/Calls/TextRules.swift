internal import FeedAccounts
internal import FeedProto
internal import FeedRanking

/// The limits of a post's texts in characters and bytes; each refusal names the value and the limit.
///
/// Texts are stored as they arrive, never trimmed or normalised. A character is a Swift
/// `Character`, an extended grapheme cluster. The decoder refuses a text that has a NUL or is not
/// well-formed UTF-8, so every `String` here is correct.
struct TextRules {
    let limits: ServiceLimits

    /// Checks a title against the limit of its feed in characters, and the one in bytes that follows from it.
    func checkTitle(
        _ title: String,
        at path: PostPath,
        maximumCharacterCount: Int
    ) throws(Status) {
        try check(
            title,
            path,
            "title",
            reason: .titleTooLong,
            maximumCharacterCount: maximumCharacterCount,
            maximumByteCount: limits.titleByteLimit(characterCount: maximumCharacterCount)
        )
    }

    /// Checks a post's text against the feed's bounds in characters and the limit in bytes.
    func checkText(
        _ text: String,
        at path: PostPath,
        minimumCharacterCount: Int,
        maximumCharacterCount: Int
    ) throws(Status) {
        // The limit in bytes is checked first: it bounds the walk over characters.
        try check(
            text,
            path,
            "text",
            reason: .textTooLong,
            maximumCharacterCount: maximumCharacterCount,
            maximumByteCount: limits.maximumTextByteCount
        )
        // A text that is not empty has a character. Its end is not looked for: that could take a walk.
        let characterCount =
            minimumCharacterCount <= 1
            ? min(text.utf8.count, 1) : text.prefix(minimumCharacterCount).count
        guard characterCount >= minimumCharacterCount else {
            let field = path.field("text")
            throw Status.invalid(
                .textEmpty,
                field: field,
                "\(field) has \(characterCount) characters; this feed asks for at least "
                    + "\(minimumCharacterCount).",
                limit: UInt64(minimumCharacterCount),
                actual: UInt64(characterCount)
            )
        }
    }

    /// Checks the address that a post links to: people open it, so `javascript:` and others are refused.
    ///
    /// What stands before a colon is the scheme, unless the colon is in a path (`/r/a:b`) or behind one.
    func checkLink(_ url: String, at path: PostPath) throws(Status) {
        try checkURL(url, at: path, "link_url")
        guard let end = url.utf8.firstIndex(where: { Self.schemeEnds.contains($0) }),
            url.utf8[end] == UInt8(ascii: ":"),
            !["http", "https"].contains(url[..<end].lowercased())
        else { return }
        let field = path.field("link_url")
        throw Status.invalid(
            .badURL,
            field: field,
            "\(field) has another scheme than http and https; an address that has one begins with "
                + "http:// or https://."
        )
    }

    private static let schemeEnds = Array(":/?#".utf8)

    /// Checks an address: a length, and no control characters or spaces; empty means none.
    func checkURL(_ url: String, at path: PostPath, _ name: StaticString) throws(Status) {
        guard url.utf8.count <= limits.maximumURLByteCount else {
            let field = path.field(name)
            throw Status.invalid(
                .badURL,
                field: field,
                "\(field) has \(url.utf8.count) bytes; the limit is "
                    + "\(limits.maximumURLByteCount).",
                limit: UInt64(limits.maximumURLByteCount),
                actual: UInt64(url.utf8.count)
            )
        }
        if let byte = url.utf8.first(where: { $0 <= 0x20 || $0 == 0x7f }) {
            let field = path.field(name)
            throw Status.invalid(
                .badURL,
                field: field,
                "\(field) holds the byte \(byte); an address has no space or ASCII control byte.",
                actual: UInt64(byte)
            )
        }
    }

    /// The bytes that the checks of a post's texts walk character by character.
    func walkedByteCount(
        _ post: Post,
        maximumTitleCharacterCount: Int,
        textCharacterCounts: ClosedRange<Int>
    ) -> Int {
        var count = 0
        if post.title.needsWalk(limit: maximumTitleCharacterCount) {
            count += post.title.utf8.count
        }
        if textCharacterCounts.lowerBound > 1
            || post.text.needsWalk(limit: textCharacterCounts.upperBound)
        {
            count += post.text.utf8.count
        }
        if let name = post.author?.displayName,
            name.needsWalk(limit: limits.maximumNameCharacterCount)
        {
            count += name.utf8.count
        }
        return count
    }

    /// Checks an author's name; empty means no author.
    func checkName(_ name: String, at path: PostPath) throws(Status) {
        try check(
            name,
            path,
            "author.display_name",
            reason: .nameTooLong,
            maximumCharacterCount: limits.maximumNameCharacterCount,
            maximumByteCount: limits.maximumNameByteCount
        )
    }

    /// Checks that a feed's name is a lowercase letter followed by letters, digits and hyphens.
    func checkFeedName(_ name: String) throws(Status) {
        let bytes = name.utf8
        let isWellFormed =
            bytes.count <= limits.maximumFeedNameByteCount
            && bytes.first.map(Self.isLowercaseLetter) == true
            && bytes.allSatisfy { Self.isLowercaseLetter($0) || Self.isDigit($0) || $0 == 0x2d }
        guard isWellFormed else {
            throw Status.invalid(
                .badFeedName,
                field: "feed.name",
                "feed.name has \(bytes.count) bytes; a name is a lowercase letter and up to "
                    + "\(limits.maximumFeedNameByteCount - 1) lowercase letters, digits or hyphens.",
                limit: UInt64(limits.maximumFeedNameByteCount),
                actual: UInt64(bytes.count)
            )
        }
    }

    private func check(
        _ text: String,
        _ path: PostPath,
        _ name: StaticString,
        reason: Reason,
        maximumCharacterCount: Int,
        maximumByteCount: Int
    ) throws(Status) {
        let byteCount = text.utf8.count
        guard byteCount <= maximumByteCount else {
            let field = path.field(name)
            throw Status.invalid(
                reason,
                field: field,
                "\(field) has \(byteCount) bytes; the limit is \(maximumByteCount).",
                limit: UInt64(maximumByteCount),
                actual: UInt64(byteCount)
            )
        }
        guard text.needsWalk(limit: maximumCharacterCount) else { return }
        let characterCount = text.count
        guard characterCount <= maximumCharacterCount else {
            let field = path.field(name)
            throw Status.invalid(
                reason,
                field: field,
                "\(field) has \(characterCount) characters; the limit is "
                    + "\(maximumCharacterCount).",
                limit: UInt64(maximumCharacterCount),
                actual: UInt64(characterCount)
            )
        }
    }

    private static func isLowercaseLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

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

/// The texts of whole posts.
extension TextRules {
    /// Checks the texts of a new post against the rules of its feed.
    func check(_ post: Post, at path: PostPath, against policy: FeedPolicy) throws(Status) {
        try checkTitle(
            post.title,
            at: path,
            maximumCharacterCount: policy.maximumTitleCharacterCount
        )
        try checkText(
            post.text,
            at: path,
            minimumCharacterCount: policy.minimumTextCharacterCount,
            maximumCharacterCount: policy.maximumTextCharacterCount
        )
        try checkLink(post.linkURL, at: path)
        try checkURL(post.thumbnailURL, at: path, "thumbnail_url")
        try checkURL(post.imageURL, at: path, "image_url")
        if let author = post.author { try checkName(author.displayName, at: path) }
    }

    /// Checks the changed texts of a post against the rules of its feed.
    func check(_ changes: PostChanges, against policy: FeedPolicy) throws(Status) {
        if let title = changes.title {
            try checkTitle(
                title,
                at: .only,
                maximumCharacterCount: policy.maximumTitleCharacterCount
            )
        }
        if let text = changes.text {
            try checkText(
                text,
                at: .only,
                minimumCharacterCount: policy.minimumTextCharacterCount,
                maximumCharacterCount: policy.maximumTextCharacterCount
            )
        }
        if let url = changes.linkURL { try checkLink(url, at: .only) }
        if let url = changes.thumbnailURL { try checkURL(url, at: .only, "thumbnail_url") }
        if let url = changes.imageURL { try checkURL(url, at: .only, "image_url") }
    }
}
