/// A value that one thread gives to another.
///
/// The giver does not use the value again, which the compiler cannot check for a value that a closure
/// carries to a thread. `Sendable` without the compiler's proof for that reason alone.
package struct Transferred<Value>: @unchecked Sendable {
    /// The value, for the thread that it was given to.
    package let value: Value

    /// Gives a value away.
    package init(_ value: Value) {
        self.value = value
    }
}
