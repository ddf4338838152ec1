import FeedTLS
import Glibc
import Testing

/// Which files may hold a secret.
struct SecretFileTests {
    @Test(
        "only the owner reads it, or a group of the process reads a file of root's",
        arguments: [
            (0o600, 1000, false, true), (0o400, 1000, false, true), (0o400, 0, false, true),
            (0o440, 0, true, true), (0o640, 0, true, true),
            (0o440, 0, false, false), (0o440, 1000, true, false), (0o460, 0, true, false),
            (0o450, 0, true, false), (0o444, 0, true, false), (0o442, 0, true, false),
        ] as [(UInt32, UInt32, Bool, Bool)]
    )
    func modes(mode: UInt32, owner: UInt32, isMember: Bool, isPrivate: Bool) {
        #expect(SecretFile.isPrivate(mode: mode, owner: owner, isMember: isMember) == isPrivate)
    }

    @Test func theGroupIsOneOfTheProcess() {
        #expect(SecretFile.isPrivate(mode: 0o440, owner: 0, group: getegid()))
        #expect(!SecretFile.isPrivate(mode: 0o440, owner: 0, group: .max - 1))
    }
}
