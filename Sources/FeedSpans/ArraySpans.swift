#if canImport(Darwin)
// The standard library has these on Apple's systems from 26 on, as an array of objects may be one of
// Objective-C there. Other arrays are not, so their memory stays where it is.
extension Array {
    /// The elements, which are no objects, as long as nothing changes the array; O(1).
    package var span: Span<Element> {
        @_lifetime(borrow self)
        borrowing get {
            precondition(!(Element.self is AnyObject.Type), "Objects have no span.")
            let elements = unsafe withUnsafeBufferPointer { unsafe $0 }
            let span = unsafe Span(_unsafeElements: elements)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The elements to change in place; O(1) if the array has no other owner.
    package var mutableSpan: MutableSpan<Element> {
        @_lifetime(&self)
        mutating get {
            let elements = unsafe withUnsafeMutableBufferPointer { unsafe $0 }
            let span = unsafe MutableSpan(_unsafeElements: elements)
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }
}
#endif
