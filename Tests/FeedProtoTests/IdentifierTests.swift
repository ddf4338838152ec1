import FeedProto
import Foundation
import Testing

@Suite struct IdentifierTests {
    @Test func isWrittenAsItsNumber() throws {
        let ids: [PostID] = [0, 300, PostID(rawValue: .max)]
        let json = String(decoding: try JSONEncoder().encode(ids), as: UTF8.self)
        #expect(json == "[0,300,18446744073709551615]")
        #expect(try JSONDecoder().decode([PostID].self, from: Data(json.utf8)) == ids)
        #expect(ids.map { "\($0)" } == ["0", "300", "18446744073709551615"])
    }

    @Test(
        "a text is an id if it is a number that fits",
        arguments: ["", " 1", "-1", "1.0", "0x1", "18446744073709551616", "a"]
    )
    func otherTextsAreNone(text: String) { #expect(UserID(text) == nil) }

    @Test func aNumberIsReadAsAnyNumberIs() {
        #expect(UserID("9223372036854775815") == .ofService(7))
        #expect(PostID("+5") == 5 && PostID("007") == 7)
    }

    @Test func isSortedByItsNumber() {
        let ids: [PostID] = [300, 7, PostID(rawValue: 1 << 63), 8]
        #expect(ids.sorted() == [7, 8, 300, PostID(rawValue: 1 << 63)])
    }

    @Test func usersOfAServiceHaveTheTopBit() {
        let (own, account) = (UserID.ofService(7), UserID(rawValue: 7))
        #expect(own.rawValue == 0x8000_0000_0000_0007)
        #expect(own.isOfService && !account.isOfService)
        #expect(UserID.ofService(1 << 63 - 1).rawValue == .max)
    }

    @Test func aNumberOfAServicesUserThatWouldLoseABitTraps() async {
        await #expect(processExitsWith: .failure) { _ = UserID.ofService(1 << 63 | 7) }
    }
}
