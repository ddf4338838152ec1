/// A field of a post that an update can change.
public struct PostField: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No field.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// The title.
    public static var title: Self { Self(rawValue: 1) }
    /// The text.
    public static var text: Self { Self(rawValue: 2) }
    /// The address that the post links to.
    public static var linkURL: Self { Self(rawValue: 3) }
    /// The small picture.
    public static var thumbnailURL: Self { Self(rawValue: 4) }
    /// The full picture.
    public static var imageURL: Self { Self(rawValue: 5) }
    /// The number of comments.
    public static var commentCount: Self { Self(rawValue: 6) }

    /// The contract's names, by number.
    public static let names = [
        "POST_FIELD_UNSPECIFIED", "TITLE", "TEXT", "LINK_URL", "THUMBNAIL_URL", "IMAGE_URL",
        "COMMENT_COUNT",
    ]
}
