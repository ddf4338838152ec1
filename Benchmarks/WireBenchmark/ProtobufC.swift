import CFeedProto
import FeedProto
import Glibc

/// protobuf-c as any C program uses it: with memory from `malloc`, and no values copied out.
@safe struct ProtobufC: ~Copyable {
    private let frame: UnsafeMutablePointer<Feed__V1__ServerFrame>
    private let room: UnsafeMutablePointer<UInt8>

    /// Reads an answer.
    init(_ body: [UInt8]) {
        guard let frame = unsafe feed__v1__server_frame__unpack(nil, body.count, body) else {
            preconditionFailure("Every sample is a message.")
        }
        unsafe self.frame = unsafe frame
        unsafe room = .allocate(capacity: body.count)
    }

    /// Reads an answer from its frame.
    init(_ frame: ServerFrame) throws(FrameError) {
        self.init(Array(try frame.encoded().dropFirst(FrameHeader.byteCount)))
    }

    deinit {
        unsafe feed__v1__server_frame__free_unpacked(frame, nil)
        unsafe room.deallocate()
    }

    /// Writes the answer again and again, each time into the same room.
    func pack(times: Int) {
        for _ in 0..<times {
            let byteCount = unsafe feed__v1__server_frame__get_packed_size(frame)
            let written = unsafe feed__v1__server_frame__pack(frame, room)
            precondition(written == byteCount, "A message is as long as it said.")
        }
    }

    /// Reads calls, one after another, and forgets them.
    static func unpackCalls(_ bytes: [UInt8], _ bodies: [Range<Int>]) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            for body in bodies {
                guard let base = bytes.baseAddress else { return }
                let data = unsafe base + body.lowerBound
                let call = unsafe feed__v1__client_frame__unpack(nil, body.count, data)
                precondition(unsafe call != nil, "Every sample is a message.")
                unsafe feed__v1__client_frame__free_unpacked(call, nil)
            }
        }
    }
}

/// The clock of the measurements.
enum Clock {
    /// The processor time of this thread.
    static func processorNanoseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
