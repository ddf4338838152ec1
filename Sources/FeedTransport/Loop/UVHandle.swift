import CLibUV

/// A handle of libuv that calls one closure: a timer, a signal, a polled descriptor, a wake-up from
/// another thread, or a step of the loop iteration.
///
/// libuv holds one reference from the start until the close callback, which frees the memory.
@safe
final class UVHandle {
    /// Called on the loop each time the handle is due.
    var body: () -> Void = {}
    /// Called once when the handle is closed, by its owner or by the end of its loop.
    var closed: () -> Void = {}

    private let raw: UnsafeMutableRawPointer
    private var isOpen = true

    private init(_ type: uv_handle_type) {
        unsafe raw = .allocate(byteCount: uv_handle_size(type), alignment: 16)
    }

    private func pointer<Handle>(as type: Handle.Type) -> UnsafeMutablePointer<Handle> {
        unsafe raw.assumingMemoryBound(to: type)
    }

    private func adopted(_ code: Int32, _ name: StaticString) throws(TransportError) -> UVHandle {
        do {
            try uvResult(code, .other(name))
        } catch {
            unsafe raw.deallocate()
            throw error
        }
        let data = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe pointer(as: uv_handle_t.self).pointee.data = data
        return self
    }

    /// Stops the handle for good; its closures go with it.
    func close() {
        guard isOpen else { return }
        isOpen = false
        unsafe uv_close(pointer(as: uv_handle_t.self)) { handle in
            guard let handle = unsafe handle, let data = unsafe handle.pointee.data else { return }
            let owner = unsafe Unmanaged<UVHandle>.fromOpaque(data).takeRetainedValue()
            owner.body = {}
            owner.closed = {}
            unsafe owner.raw.deallocate()
        }
        closed()
    }

    private static func fire(_ data: UnsafeMutableRawPointer?) {
        guard let data = unsafe data else { return }
        unsafe Unmanaged<UVHandle>.fromOpaque(data)._withUnsafeGuaranteedRef { handle in
            if handle.isOpen { handle.body() }
        }
    }

    static func timer(_ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_TIMER)
        let code = unsafe uv_timer_init(loop.pointer, handle.pointer(as: uv_timer_t.self))
        return try handle.adopted(code, "Creating a timer")
    }

    /// Starts a timer, or starts it anew; a repeat of 0 fires once.
    func startTimer(afterMilliseconds: UInt64, everyMilliseconds: UInt64) {
        guard isOpen else { return }
        unsafe uv_timer_start(
            pointer(as: uv_timer_t.self),
            { timer in unsafe UVHandle.fire(timer?.pointee.data) },
            afterMilliseconds,
            everyMilliseconds
        )
    }

    /// A signal of the process; it is watched from now on, and one that was blocked comes at once.
    static func signal(_ number: Int32, _ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_SIGNAL)
        let pointer = unsafe handle.pointer(as: uv_signal_t.self)
        let made = try unsafe handle.adopted(
            uv_signal_init(loop.pointer, pointer),
            "Creating a signal handle"
        )
        let code = unsafe uv_signal_start(
            pointer,
            { signal, _ in unsafe UVHandle.fire(signal?.pointee.data) },
            number
        )
        do {
            try uvResult(code, .other("Watching a signal"))
        } catch {
            made.close()
            throw error
        }
        // Not before: a signal that has come already would end the process.
        clibuv_unblock_signal(number)
        return made
    }

    /// A descriptor that is watched for readability once started.
    static func poll(_ descriptor: Int32, _ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_POLL)
        let pointer = unsafe handle.pointer(as: uv_poll_t.self)
        return try unsafe handle.adopted(
            uv_poll_init(loop.pointer, pointer, descriptor),
            "Watching a descriptor"
        )
    }

    func startPolling() {
        guard isOpen else { return }
        unsafe uv_poll_start(pointer(as: uv_poll_t.self), Int32(UV_READABLE.rawValue)) {
            poll,
            _,
            _ in
            unsafe UVHandle.fire(poll?.pointee.data)
        }
    }

    func stopPolling() {
        guard isOpen else { return }
        unsafe uv_poll_stop(pointer(as: uv_poll_t.self))
    }

    /// A step before the loop waits; while started it also keeps the loop from waiting.
    static func idle(_ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_IDLE)
        let code = unsafe uv_idle_init(loop.pointer, handle.pointer(as: uv_idle_t.self))
        return try handle.adopted(code, "Creating an idle handle")
    }

    /// Starts an idle step; a started one stays started.
    func startIdle() {
        guard isOpen else { return }
        unsafe uv_idle_start(pointer(as: uv_idle_t.self)) { idle in
            unsafe UVHandle.fire(idle?.pointee.data)
        }
    }

    func stopIdle() {
        guard isOpen else { return }
        unsafe uv_idle_stop(pointer(as: uv_idle_t.self))
    }

    /// A step right before each wait, from now on.
    static func prepare(_ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_PREPARE)
        let pointer = unsafe handle.pointer(as: uv_prepare_t.self)
        let code = unsafe uv_prepare_init(loop.pointer, pointer)
        let made = try handle.adopted(code, "Creating a prepare handle")
        unsafe uv_prepare_start(pointer) { unsafe UVHandle.fire($0?.pointee.data) }
        return made
    }

    /// A step right after each wait, from now on.
    static func check(_ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_CHECK)
        let pointer = unsafe handle.pointer(as: uv_check_t.self)
        let code = unsafe uv_check_init(loop.pointer, pointer)
        let made = try handle.adopted(code, "Creating a check handle")
        unsafe uv_check_start(pointer) { unsafe UVHandle.fire($0?.pointee.data) }
        return made
    }

    static func async(_ loop: UVLoop) throws(TransportError) -> UVHandle {
        let handle = UVHandle(UV_ASYNC)
        let pointer = unsafe handle.pointer(as: uv_async_t.self)
        let code = unsafe uv_async_init(loop.pointer, pointer) { async in
            unsafe UVHandle.fire(async?.pointee.data)
        }
        return try handle.adopted(code, "Creating a wake-up")
    }

    /// The part of an async handle that other threads may use until it is closed.
    var waker: UVWaker { unsafe UVWaker(async: pointer(as: uv_async_t.self)) }
}

/// Wakes a loop from any thread; must not be used once the handle behind it is closing.
// Unchecked: `uv_async_send` is the one function of libuv that is thread-safe.
@safe
struct UVWaker: @unchecked Sendable {
    fileprivate let async: UnsafeMutablePointer<uv_async_t>

    func wake() { unsafe uv_async_send(async) }
}
