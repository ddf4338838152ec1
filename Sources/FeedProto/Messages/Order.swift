/// How posts are ordered; each order is total, and ties are broken by id.
public struct Order: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The feed's default order.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// Score descending, title ascending by bytes, id ascending.
    public static var top: Self { Self(rawValue: 1) }
    /// Creation time descending, id descending.
    public static var new: Self { Self(rawValue: 2) }
    /// Creation time ascending, id ascending.
    public static var old: Self { Self(rawValue: 3) }
    /// Reddit's hot formula descending, id ascending.
    public static var hot: Self { Self(rawValue: 4) }

    /// The contract's names, by number.
    public static let names = ["ORDER_UNSPECIFIED", "TOP", "NEW", "OLD", "HOT"]
}
