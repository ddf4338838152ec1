/// A value that a test cannot go on with, and the line that met it.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init<Value>(_ value: Value, file: StaticString = #fileID, line: UInt = #line) {
        description = "\(file):\(line): \(value)"
    }
}
