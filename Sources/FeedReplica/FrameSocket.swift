internal import CWait
internal import Glibc
internal import Synchronization

/// Ends the wait of the thread that has a socket; any thread may ask for that.
package final class ReplicaWakeUp: Sendable {
    fileprivate let descriptor: Int32
    /// Whether a wake-up waits that no wait has taken, so that another one costs no call of the system.
    private let isAwake = Atomic(false)

    package init() throws(ReplicaError) {
        descriptor = cwait_event()
        guard descriptor >= 0 else { throw .system(call: "eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// Ends the wait that is under way, or else the next one.
    package func wake() {
        guard !isAwake.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits without a socket, for some time at most.
    package func wait(upTo longest: Duration) throws(ReplicaError) {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let code = unsafe cwait_poll(&polled, 1, nanoseconds(longest))
        guard code >= 0 || errno == EINTR else { throw .system(call: "ppoll", code: errno) }
        if polled.revents != 0 { take() }
    }

    /// Takes the wake-up that has come, and lets the caller see what was done before it.
    fileprivate func take() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
        // Behind the read: a wake-up in between is dropped, and what it tells of is looked at after this.
        _ = isAwake.exchange(false, ordering: .acquiringAndReleasing)
    }
}

/// A duration as the system takes it, an hour at most.
private func nanoseconds(_ duration: Duration) -> UInt64 {
    UInt64(max(0, min(duration / .nanoseconds(1), 3_600e9)))
}

/// A stream socket with frames, which never blocks but in `wait`; one thread uses it.
package final class FrameSocket {
    /// The room for bytes that come, and what is read at once beside a frame.
    static let readByteCount = 64 << 10
    /// A buffer above that is given back once it is empty.
    static let keptByteCount = 1 << 20
    private static let lengthByteCount = 4
    private static let headByteCount = 5
    private static let fieldByteCount = 8

    private let descriptor: Int32
    /// The kinds that the other side says.
    private let expected: ClosedRange<UInt8>
    /// What has come and is not taken yet is in the bytes of `unread`.
    private var input = [UInt8](repeating: 0, count: readByteCount)
    private var unread = 0..<0
    /// What the socket has not taken is behind the first `sentByteCount` bytes.
    private var output: [UInt8] = []
    private var sentByteCount = 0
    /// Why nothing is sent any more; what has come is still read, as it may say the reason.
    private var sendingFailure: ReplicaError?
    private var polled = [pollfd](repeating: pollfd(), count: 2)

    /// Takes over a connected stream socket, and closes it in the end.
    package init(adopting descriptor: Int32, expecting expected: ClosedRange<UInt8>) {
        self.descriptor = descriptor
        self.expected = expected
    }

    /// Connects to a Unix socket; throws at once where nobody takes the connection.
    package convenience init(
        connectingTo path: String,
        expecting expected: ClosedRange<UInt8>
    ) throws(ReplicaError) {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        let name = Array(path.utf8)
        guard (1...limit).contains(name.count), !name.contains(0) else {
            throw .pathTooLong(path: path, limit: limit)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        let code = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else {
            let code = errno
            close(descriptor)
            throw .cannotConnect(path: path, code: code)
        }
        self.init(adopting: descriptor, expecting: expected)
    }

    deinit { close(descriptor) }

    // MARK: Sending

    /// The bytes that wait until the other side reads.
    package var unsentByteCount: Int { output.count - sentByteCount }

    /// Sends a frame, and keeps what the socket does not take; only that is copied of a tail.
    ///
    /// A failure is told by the `next()` behind the last frame that has come.
    package func send<let count: Int>(
        _ kind: FrameKind,
        _ fields: [count of UInt64],
        tail: Span<UInt8> = Span()
    ) {
        let layout = kind.layout
        precondition(count == layout.fieldCount, "A frame has the fields of its kind.")
        precondition(layout.tail.contains(tail.count), "A frame has a tail of its kind.")
        guard sendingFailure == nil else { return }
        let length = 1 + Self.fieldByteCount * count + tail.count
        let waitingByteCount = unsentByteCount + Self.lengthByteCount + length
        guard waitingByteCount <= ReplicaLimits.unsentByteCount else {
            failSending(
                .tooMuchUnsent(byteCount: waitingByteCount, limit: ReplicaLimits.unsentByteCount)
            )
            return
        }
        let isFirst = unsentByteCount == 0
        append(UInt64(length), byteCount: Self.lengthByteCount)
        output.append(kind.rawValue)
        for place in 0..<count { append(fields[place], byteCount: Self.fieldByteCount) }
        let sent = isFirst ? sendAll(and: tail) : 0
        guard sendingFailure == nil, sent < tail.count else { return }
        unsafe tail.extracting(sent...).withUnsafeBufferPointer {
            unsafe output.append(contentsOf: $0)
        }
    }

    private func append(_ number: UInt64, byteCount: Int) {
        var rest = number
        for _ in 0..<byteCount {
            output.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Sends what waits, and then a tail, in one call; returns how many bytes of the tail are sent.
    private func sendAll(and tail: Span<UInt8> = Span()) -> Int {
        let waitingByteCount = unsentByteCount
        let sent = unsafe output.withUnsafeMutableBytes { output in
            unsafe tail.withUnsafeBufferPointer { tail in
                let waiting = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: output[sentByteCount...]
                )
                // The system only reads them.
                let rest = unsafe UnsafeMutableBufferPointer(mutating: tail)
                var parts = unsafe (
                    iovec(iov_base: waiting.baseAddress, iov_len: waiting.count),
                    iovec(iov_base: rest.baseAddress, iov_len: rest.count)
                )
                return unsafe withUnsafeMutableBytes(of: &parts) { parts in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = parts.baseAddress?.assumingMemoryBound(to: iovec.self)
                    unsafe message.msg_iovlen = 2
                    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
                    return unsafe sendmsg(descriptor, &message, flags)
                }
            }
        }
        guard sent >= 0 else {
            let code = errno
            if code == EPIPE || code == ECONNRESET {
                failSending(.closed)
            } else if code != EAGAIN, code != EINTR {
                failSending(.system(call: "sendmsg", code: code))
            }
            return 0
        }
        guard sent >= waitingByteCount else {
            sentByteCount += sent
            // What is sent is forgotten once it is more than half, so that each byte moves once.
            if sentByteCount > output.count / 2 {
                output.removeSubrange(..<sentByteCount)
                sentByteCount = 0
            }
            return 0
        }
        forgetOutput()
        return sent - waitingByteCount
    }

    private func forgetOutput() {
        output.removeAll(keepingCapacity: output.capacity <= Self.keptByteCount)
        sentByteCount = 0
    }

    private func failSending(_ error: ReplicaError) {
        sendingFailure = error
        forgetOutput()
    }

    // MARK: Receiving

    /// The next whole frame that has come; nil where none has.
    ///
    /// Its tail is there until the next call. The bytes of a wrong frame are not taken: each call throws.
    package func next() throws(ReplicaError) -> Frame? {
        while true {
            let byteCount = try unreadFrameByteCount()
            if let byteCount, byteCount <= unread.count { return try take(byteCount) }
            if try !receive(frameOf: byteCount ?? Self.headByteCount) { return nil }
        }
    }

    /// The memory for bytes that come: a frame's, or the room of a read.
    package var receiveBufferByteCount: Int { input.count }

    /// A copy of the tail of the frame that came last.
    package func tail(of frame: Frame) -> [UInt8] { Array(input[frame.tail]) }

    /// The bytes of the first frame that is not taken, with its length; nil until its head has come.
    private func unreadFrameByteCount() throws(ReplicaError) -> Int? {
        guard unread.count >= Self.headByteCount else { return nil }
        let length = Int(number(at: unread.lowerBound, byteCount: Self.lengthByteCount))
        let code = input[unread.lowerBound + Self.lengthByteCount]
        guard expected.contains(code), let kind = FrameKind(rawValue: code) else {
            throw .badFrame(
                kind: "\(code)",
                what: "expected \(expected.lowerBound) to \(expected.upperBound)"
            )
        }
        let layout = kind.layout
        let fixed = 1 + Self.fieldByteCount * layout.fieldCount
        let bounds = fixed + layout.tail.lowerBound...fixed + layout.tail.upperBound
        guard bounds.contains(length) else {
            throw .badFrame(
                kind: layout.name,
                what: "expected \(bounds.lowerBound) to \(bounds.upperBound) bytes, got \(length)"
            )
        }
        return Self.lengthByteCount + length
    }

    private func take(_ byteCount: Int) throws(ReplicaError) -> Frame {
        let start = unread.lowerBound
        guard let kind = FrameKind(rawValue: input[start + Self.lengthByteCount]) else {
            preconditionFailure("A frame was taken before its head was looked at.")
        }
        var fields = [6 of UInt64](repeating: 0)
        var place = start + Self.headByteCount
        for field in 0..<kind.layout.fieldCount {
            fields[field] = number(at: place, byteCount: Self.fieldByteCount)
            place += Self.fieldByteCount
        }
        unread = start + byteCount..<unread.upperBound
        return Frame(kind: kind, fields: fields, tail: place..<unread.lowerBound)
    }

    private func number(at place: Int, byteCount: Int) -> UInt64 {
        var number: UInt64 = 0
        for byte in 0..<byteCount { number |= UInt64(input[place + byte]) << (8 * UInt64(byte)) }
        return number
    }

    /// Reads once, into room for a frame of so many bytes; false where nothing has come.
    private func receive(frameOf byteCount: Int) throws(ReplicaError) -> Bool {
        makeRoom(for: byteCount)
        let count = unsafe input.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[unread.upperBound...])
            return unsafe recv(
                descriptor,
                room.baseAddress,
                room.count,
                Int32(MSG_DONTWAIT)
            )
        }
        if count > 0 {
            unread = unread.lowerBound..<unread.upperBound + count
            return true
        }
        let code = errno
        if count == 0 || code == ECONNRESET { throw .closed }
        guard code == EAGAIN || code == EINTR else { throw .system(call: "recv", code: code) }
        if let sendingFailure { throw sendingFailure }
        return false
    }

    private func makeRoom(for byteCount: Int) {
        if unread.isEmpty {
            unread = 0..<0
            if input.count > Self.keptByteCount, byteCount <= Self.readByteCount {
                input = [UInt8](repeating: 0, count: Self.readByteCount)
            }
        }
        guard unread.lowerBound + byteCount > input.count || unread.upperBound == input.count else {
            return
        }
        if byteCount > input.count {
            var larger = [UInt8](repeating: 0, count: byteCount)
            larger.replaceSubrange(0..<unread.count, with: input[unread])
            input = larger
        } else {
            unsafe input.withUnsafeMutableBytes { bytes in
                let moved = unsafe UnsafeRawBufferPointer(rebasing: bytes[unread])
                unsafe bytes.copyMemory(from: moved)
            }
        }
        unread = 0..<unread.count
    }

    // MARK: Waiting

    /// Waits until bytes have come, the socket has taken some that wait, somebody wakes, or the time is up.
    ///
    /// It may return earlier. Call `next()` until there is no frame, and then this.
    package func wait(upTo longest: Duration, orWake wakeUp: ReplicaWakeUp) throws(ReplicaError) {
        let waits = unsentByteCount > 0
        polled[0] = pollfd(
            fd: descriptor,
            events: Int16(POLLIN | (waits ? POLLOUT : 0)),
            revents: 0
        )
        polled[1] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
        let longest = sendingFailure == nil ? nanoseconds(longest) : 0
        let code = unsafe cwait_poll(&polled, 2, longest)
        guard code >= 0 || errno == EINTR else { throw .system(call: "ppoll", code: errno) }
        guard code > 0 else { return }
        if polled[1].revents != 0 { wakeUp.take() }
        if waits, polled[0].revents & Int16(POLLOUT) != 0 { _ = sendAll() }
    }
}
