internal import FeedProto
internal import FeedRanking

/// The limits of texts, as the real service has them.
enum TextRules {
    /// Checks the texts of a new post, whose fields have names such as `post.title`.
    static func check(_ post: Post, _ path: String, _ policy: FeedPolicy) throws(Status) {
        try checkTitle(post.title, path, policy)
        try checkText(post.text, path, policy)
        try checkLink(post.linkURL, "\(path).link_url")
        try checkURL(post.thumbnailURL, "\(path).thumbnail_url")
        try checkURL(post.imageURL, "\(path).image_url")
        let name = post.author?.displayName ?? ""
        try checkName(name, "\(path).author.display_name")
    }

    /// Checks the texts that change.
    static func check(_ changes: PostChanges, _ policy: FeedPolicy) throws(Status) {
        if let title = changes.title { try checkTitle(title, "post", policy) }
        if let text = changes.text { try checkText(text, "post", policy) }
        if let url = changes.linkURL { try checkLink(url, "post.link_url") }
        if let url = changes.thumbnailURL { try checkURL(url, "post.thumbnail_url") }
        if let url = changes.imageURL { try checkURL(url, "post.image_url") }
    }

    /// Checks the name of an author or an account.
    static func checkName(_ name: String, _ field: String) throws(Status) {
        try check(
            name,
            field,
            .nameTooLong,
            MemoryLimits.nameCharacterCount,
            MemoryLimits.nameByteCount
        )
    }

    /// Checks the name of a feed: a lowercase letter, then lowercase letters, digits and hyphens.
    static func checkFeedName(_ name: String) throws(Status) {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isWellFormed =
            name.utf8.count <= MemoryLimits.feedNameByteCount
            && name.utf8.first.map(letters.contains) == true
            && name.utf8.allSatisfy {
                letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-")
            }
        guard isWellFormed else {
            let count = UInt64(name.utf8.count)
            throw .invalid(
                .badFeedName,
                "feed.name",
                limit: MemoryLimits.feedNameByteCount,
                actual: count
            )
        }
    }

    /// Checks a password: its characters from below and its bytes from above.
    static func checkPassword(_ password: SecretText) throws(Status) {
        let byteCount = password.utf8.count
        let byteLimit = MemoryLimits.passwordByteCount
        guard byteCount <= byteLimit else {
            throw .invalid(
                .passwordTooLong,
                "password",
                limit: byteLimit,
                actual: UInt64(byteCount)
            )
        }
        let count = password.characterCount
        let limit = MemoryLimits.passwordCharacterCount
        guard count >= limit else {
            throw .invalid(.passwordTooShort, "password", limit: limit, actual: UInt64(count))
        }
    }

    private static func checkTitle(
        _ title: String,
        _ path: String,
        _ policy: FeedPolicy
    ) throws(Status) {
        let limit = policy.maximumTitleCharacterCount
        let byteLimit = max(
            MemoryLimits.leastTitleByteLimit,
            MemoryLimits.titleByteCountPerCharacter * limit
        )
        try check(title, "\(path).title", .titleTooLong, limit, byteLimit)
    }

    private static func checkText(
        _ text: String,
        _ path: String,
        _ policy: FeedPolicy
    ) throws(Status) {
        let limit = policy.maximumTextCharacterCount
        try check(text, "\(path).text", .textTooLong, limit, MemoryLimits.textByteCount)
        let least = policy.minimumTextCharacterCount
        let count = text.prefix(least).count
        guard count >= least else {
            throw .invalid(.textEmpty, "\(path).text", limit: least, actual: UInt64(count))
        }
    }

    private static func checkLink(_ url: String, _ field: String) throws(Status) {
        try checkURL(url, field)
        let scheme = url.prefix { !":/?#".contains($0) }
        let isScheme = url[scheme.endIndex...].first == ":"
        guard !isScheme || ["http", "https"].contains(scheme.lowercased()) else {
            throw .invalid(.badURL, field)
        }
    }

    private static func checkURL(_ url: String, _ field: String) throws(Status) {
        let limit = MemoryLimits.urlByteCount
        guard url.utf8.count <= limit else {
            throw .invalid(.badURL, field, limit: limit, actual: UInt64(url.utf8.count))
        }
        if let byte = url.utf8.first(where: { $0 <= 0x20 || $0 == 0x7f }) {
            throw .invalid(.badURL, field, actual: UInt64(byte))
        }
    }

    private static func check(
        _ text: String,
        _ field: String,
        _ reason: Reason,
        _ characterLimit: Int,
        _ byteLimit: Int
    ) throws(Status) {
        let byteCount = text.utf8.count
        guard byteCount <= byteLimit else {
            throw .invalid(reason, field, limit: byteLimit, actual: UInt64(byteCount))
        }
        let count = byteCount <= characterLimit ? 0 : text.count
        guard count <= characterLimit else {
            throw .invalid(reason, field, limit: characterLimit, actual: UInt64(count))
        }
    }
}
