// What the client libraries name of Foundation; nothing works.
public struct Data: RandomAccessCollection, Codable, Sendable {
    public init<S: Sequence>(_ s: S) where S.Element == UInt8 {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(i: Int) -> UInt8 { 0 }
    public init() {}
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var atomic: Self { .init(rawValue: 1) }
    }
}
public struct URL: Sendable { public init(filePath: String) {} }
public struct Date: Comparable, Hashable, Sendable {
    public init(timeIntervalSince1970: Double) {}
    public static func < (a: Date, b: Date) -> Bool { false }
    public static func == (a: Date, b: Date) -> Bool { false }
}
public struct FileAttributeKey: Hashable, Sendable {
    public static var modificationDate: Self { .init() }
    public static var size: Self { .init() }
    public static var posixPermissions: Self { .init() }
}
public final class FileManager: Sendable {
    public static var `default`: FileManager { FileManager() }
    public func contents(atPath: String) -> Data? { nil }
    public func setAttributes(_ a: [FileAttributeKey: Any], ofItemAtPath: String) throws {}
    public func removeItem(atPath: String) throws {}
    public func moveItem(atPath: String, toPath: String) throws {}
    public func createDirectory(atPath: String, withIntermediateDirectories: Bool) throws {}
    public func contentsOfDirectory(atPath: String) throws -> [String] { [] }
    public func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { [:] }
    public func fileExists(atPath: String) -> Bool { false }
    public func createFile(
        atPath: String,
        contents: Data?,
        attributes: [FileAttributeKey: Any]?
    ) -> Bool { false }
}
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}
extension LocalizedError {
    public var errorDescription: String? { nil }
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}
extension Error { public var localizedDescription: String { "" } }
