/// The hashes by which a channel knows a request again.
struct RequestHashes {
    /// The hash of the content, which is recorded where the request has a sequence.
    let content: UInt32
    /// The hash of the bytes, which version 0.1 recorded; the same where the bytes have one form.
    let version01: UInt32

    /// The hashes of a request; without a second one both are the same.
    init(content: UInt32, version01: UInt32? = nil) {
        self.content = content
        self.version01 = version01 ?? content
    }
}
