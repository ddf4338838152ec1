package import FeedProto
package import FeedRanking

/// The limits of texts in characters and bytes; each refusal names the value and the limit.
///
/// Texts are stored as they arrive, never trimmed or normalised. A character is a Swift
/// `Character`, an extended grapheme cluster. The decoder refuses a text that has a NUL or is not
/// well-formed UTF-8, so every `String` here is correct.
package struct TextRules: Sendable {
    let limits: CallLimits

    /// Checks the texts of a new post against the rules of its feed.
    package func check(
        _ post: Post,
        at path: PostPath,
        against policy: FeedPolicy
    ) throws(Status) {
        try checkTitle(post.title, at: path, policy)
        try checkText(post.text, at: path, policy)
        try checkLink(post.linkURL, at: path)
        try checkURL(post.thumbnailURL, at: path, "thumbnail_url")
        try checkURL(post.imageURL, at: path, "image_url")
        if let author = post.author {
            try checkName(author.displayName, path.field("author.display_name"))
        }
    }

    /// Checks the changed texts of a post against the rules of its feed.
    func check(_ changes: PostChanges, against policy: FeedPolicy) throws(Status) {
        if let title = changes.title { try checkTitle(title, at: .only, policy) }
        if let text = changes.text { try checkText(text, at: .only, policy) }
        if let url = changes.linkURL { try checkLink(url, at: .only) }
        if let url = changes.thumbnailURL { try checkURL(url, at: .only, "thumbnail_url") }
        if let url = changes.imageURL { try checkURL(url, at: .only, "image_url") }
    }

    /// The bytes that the checks of a post's texts walk character by character.
    package func walkedByteCount(_ post: Post, against policy: FeedPolicy) -> Int {
        var count = 0
        if post.title.needsWalk(limit: policy.maximumTitleCharacterCount) {
            count += post.title.utf8.count
        }
        let least = policy.minimumTextCharacterCount
        if least > 1 || post.text.needsWalk(limit: max(least, policy.maximumTextCharacterCount)) {
            count += post.text.utf8.count
        }
        if let name = post.author?.displayName,
            name.needsWalk(limit: limits.maximumNameCharacterCount)
        {
            count += name.utf8.count
        }
        return count
    }

    /// Checks a title against the limit of its feed in characters, and the one in bytes that follows from it.
    private func checkTitle(
        _ title: String,
        at path: PostPath,
        _ policy: FeedPolicy
    ) throws(Status) {
        let limit = policy.maximumTitleCharacterCount
        try check(
            title,
            path.field("title"),
            .titleTooLong,
            characterLimit: limit,
            byteLimit: limits.titleByteLimit(characterCount: limit)
        )
    }

    private func checkText(
        _ text: String,
        at path: PostPath,
        _ policy: FeedPolicy
    ) throws(Status) {
        // The limit in bytes is checked first: it bounds the walk over characters.
        try check(
            text,
            path.field("text"),
            .textTooLong,
            characterLimit: policy.maximumTextCharacterCount,
            byteLimit: limits.maximumTextByteCount
        )
        let least = policy.minimumTextCharacterCount
        // A text that is not empty has a character. Its end is not looked for: that could take a walk.
        let count = least <= 1 ? min(text.utf8.count, 1) : text.prefix(least).count
        guard count >= least else {
            let field = path.field("text")
            throw .invalid(
                .textEmpty,
                field: field,
                "\(field) has \(count) characters; this feed asks for at least \(least).",
                limit: UInt64(least),
                actual: UInt64(count)
            )
        }
    }

    /// Checks the address that a post links to: people open it, so `javascript:` and others are refused.
    ///
    /// What stands before a colon is the scheme, unless the colon is in a path (`/r/a:b`) or behind one.
    private func checkLink(_ url: String, at path: PostPath) throws(Status) {
        try checkURL(url, at: path, "link_url")
        guard let end = url.utf8.firstIndex(where: { Self.schemeEnds.contains($0) }),
            url.utf8[end] == UInt8(ascii: ":"),
            !["http", "https"].contains(url[..<end].lowercased())
        else { return }
        let field = path.field("link_url")
        throw .invalid(
            .badURL,
            field: field,
            "\(field) has another scheme than http and https; an address that has one begins with "
                + "http:// or https://."
        )
    }

    private static let schemeEnds = Array(":/?#".utf8)

    /// Checks an address: a length, and no control characters or spaces; empty means none.
    private func checkURL(
        _ url: String,
        at path: PostPath,
        _ name: StaticString
    ) throws(Status) {
        let limit = limits.maximumURLByteCount
        guard url.utf8.count <= limit else {
            throw .tooLong(.badURL, field: path.field(name), url.utf8.count, "bytes", limit: limit)
        }
        if let byte = url.utf8.first(where: { $0 <= 0x20 || $0 == 0x7f }) {
            let field = path.field(name)
            throw .invalid(
                .badURL,
                field: field,
                "\(field) holds the byte \(byte); an address has no space or ASCII control byte.",
                actual: UInt64(byte)
            )
        }
    }

    /// Checks the name of an author or of a new account; empty means none.
    private func checkName(
        _ name: String,
        _ field: @autoclosure () -> String
    ) throws(Status) {
        try check(
            name,
            field(),
            .nameTooLong,
            characterLimit: limits.maximumNameCharacterCount,
            byteLimit: limits.maximumNameByteCount
        )
    }

    /// Checks that a feed's name is a lowercase letter followed by letters, digits and hyphens.
    func checkFeedName(_ name: String) throws(Status) {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let limit = limits.maximumFeedNameByteCount
        let bytes = name.utf8
        let isWellFormed =
            bytes.count <= limit && bytes.first.map(letters.contains) == true
            && bytes.allSatisfy {
                letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-")
            }
        guard isWellFormed else {
            throw .invalid(
                .badFeedName,
                field: "feed.name",
                "feed.name has \(bytes.count) bytes; a name is a lowercase letter and up to "
                    + "\(limit - 1) lowercase letters, digits or hyphens.",
                limit: UInt64(limit),
                actual: UInt64(bytes.count)
            )
        }
    }

    private func check(
        _ text: String,
        _ field: @autoclosure () -> String,
        _ reason: Reason,
        characterLimit: Int,
        byteLimit: Int
    ) throws(Status) {
        let byteCount = text.utf8.count
        guard byteCount <= byteLimit else {
            throw .tooLong(reason, field: field(), byteCount, "bytes", limit: byteLimit)
        }
        guard text.needsWalk(limit: characterLimit) else { return }
        let count = text.count
        guard count <= characterLimit else {
            throw .tooLong(reason, field: field(), count, "characters", limit: characterLimit)
        }
    }
}

/// The passwords and names of accounts.
extension TextRules {
    /// Checks the length of a password: in characters from below, and in bytes from above, as its hash
    /// takes any characters.
    package func checkPassword(
        _ password: SecretText,
        field: String = "password"
    ) throws(Status) {
        let byteCount = password.utf8.count
        let limit = limits.maximumPasswordByteCount
        guard byteCount <= limit else {
            throw .tooLong(.passwordTooLong, field: field, byteCount, "bytes", limit: limit)
        }
        let count = password.characterCount
        let least = limits.minimumPasswordCharacterCount
        guard count >= least else {
            throw .invalid(
                .passwordTooShort,
                field: field,
                "\(field) has \(count) characters; it has at least \(least).",
                limit: UInt64(least),
                actual: UInt64(count)
            )
        }
    }

    /// Checks the name of a new account.
    package func checkDisplayName(_ name: String) throws(Status) {
        try checkName(name, "display_name")
    }

    /// The name of an account that was created without one: what is before the `@` of the e-mail,
    /// shortened to the limits of names.
    package func displayName(ofEmail email: String) -> String {
        // The byte is looked for: as a character, an `@` may be one with a combining mark behind it.
        let local = email.utf8.prefix { $0 != UInt8(ascii: "@") }
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
    fileprivate static func tooLong(
        _ reason: Reason,
        field: String,
        _ count: Int,
        _ unit: StaticString,
        limit: Int
    ) -> Status {
        .invalid(
            reason,
            field: field,
            "\(field) has \(count) \(unit); the limit is \(limit).",
            limit: UInt64(limit),
            actual: UInt64(count)
        )
    }
}

/// The place of a post in its request, for the names of wrong fields.
package enum PostPath {
    /// The request's one post.
    case only
    /// One of the request's posts, counted from 0.
    case item(Int)

    /// The path of a post's field, as `posts[17].title`; made only for wrong fields.
    func field(_ name: StaticString) -> String {
        switch self {
        case .only: "post.\(name)"
        case .item(let index): "posts[\(index)].\(name)"
        }
    }
}

extension String {
    /// Whether only a walk over the characters can find out if there are more than `limit`.
    ///
    /// A text has at most as many characters as scalars, and as many scalars as bytes. So most texts
    /// need no walk. O(bytes), about a nanosecond each.
    package func needsWalk(limit: Int) -> Bool {
        guard utf8.count > limit else { return false }
        // Each scalar has one byte that is not a continuation.
        var scalarCount = 0
        for byte in utf8 { scalarCount &+= byte & 0xC0 == 0x80 ? 0 : 1 }
        return scalarCount > limit
    }
}
