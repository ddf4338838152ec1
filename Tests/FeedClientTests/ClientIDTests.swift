import FeedClient
import Testing

/// Ids are random, have 16 bytes, and survive being written down.
struct ClientIDTests {
    @Test func survivesBeingWrittenDown() {
        let id = ClientID()
        #expect(ClientID(id.description) == id)
        #expect(ClientID(bytes: id.bytes) == id)
        #expect(id.description.utf8.count == 32)
    }

    @Test func differsEachTime() {
        #expect(ClientID() != ClientID())
    }

    @Test func keepsLeadingZeros() {
        let text = "000102030405060708090a0b0c0d0e0f"
        #expect(ClientID(text)?.bytes == Array(0..<16))
        #expect(ClientID(text)?.description == text)
    }

    @Test(arguments: [
        "", "00", String(repeating: "g", count: 32), String(repeating: "0", count: 33),
    ])
    func refusesWhatIsNone(_ text: String) {
        #expect(ClientID(text) == nil)
    }
}
