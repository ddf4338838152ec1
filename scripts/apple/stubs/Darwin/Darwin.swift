// What the client libraries name of Darwin's overlay, and what Synchronization's interface for Linux does.
@_exported import CDarwin

public var errno: Int32 {
    get { unsafe __error().pointee }
    set { unsafe __error().pointee = newValue }
}
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { 0 }
public var S_IFMT: mode_t { mode_t(0o170000) }
public var S_IFREG: mode_t { mode_t(0o100000) }
public var S_IFDIR: mode_t { mode_t(0o040000) }

@inlinable public func _swift_stdlib_gettid() -> UInt32 { 0 }
@inlinable public func _swift_stdlib_futex_lock(_ lock: UnsafeMutablePointer<UInt32>) -> UInt32 {
    0
}
@inlinable public func _swift_stdlib_futex_trylock(_ lock: UnsafeMutablePointer<UInt32>) -> UInt32 {
    0
}
@inlinable public func _swift_stdlib_futex_unlock(_ lock: UnsafeMutablePointer<UInt32>) -> UInt32 {
    0
}
@inlinable public func _swift_stdlib_wait(_ p: UnsafeMutableRawPointer, _ e: UInt32) {}
