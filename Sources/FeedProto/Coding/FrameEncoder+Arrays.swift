extension FrameEncoder {
    /// All frames as an array of their own.
    public func bytes() -> [UInt8] {
        withBytes { bytes in
            var copy: [UInt8] = []
            copy.append(copying: bytes)
            return copy
        }
    }
}

extension ClientFrame {
    /// The frame with its header, ready to be sent.
    public func encoded() throws(FrameError) -> [UInt8] {
        var encoder = FrameEncoder()
        try encoder.append(self)
        return encoder.bytes()
    }
}

extension ServerFrame {
    /// The frame with its header, ready to be sent.
    public func encoded() throws(FrameError) -> [UInt8] {
        var encoder = FrameEncoder()
        try encoder.append(self)
        return encoder.bytes()
    }
}
