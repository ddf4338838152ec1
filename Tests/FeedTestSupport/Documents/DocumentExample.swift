internal import Foundation

/// An example of a document that is a function of a test, too, so that it compiles and runs.
package struct DocumentExample {
    /// The lines of the function's body as the document indents them, without empty ones.
    package let lines: [String]

    /// Reads the body of a static function of a test's suite.
    ///
    /// - Parameters:
    ///   - name: The name of the function.
    ///   - file: The file of the suite.
    /// - Throws: Where the file cannot be read.
    package init(_ name: String, in file: String) throws {
        lines = try Self.lines(URL(filePath: file))
            .drop { !$0.hasPrefix("    static func \(name)(") }.dropFirst()
            .prefix { $0 != "    }" }
            .map { String($0.dropFirst(4)) }
    }

    /// Whether a document, by its path in the project, has the lines one after another.
    package func isIn(_ document: String) throws -> Bool {
        try Self.lines(Programs.projectFolder.appending(path: document)).contains(lines)
    }

    private static func lines(_ file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
