import FeedSettings
import Testing

/// The flags that the parser of a command line describes.
struct SettingFlagTests {
    @Test func eachFlagOfTheCommandItselfIsListed() {
        let dump = """
            {"serializationVersion": 0, "command": {"commandName": "a", "arguments": [
                {"kind": "positional", "isRepeating": false, "isOptional": false,
                 "shouldDisplay": true, "valueName": "file"},
                {"kind": "option", "isRepeating": true, "shouldDisplay": true,
                 "names": [{"kind": "short", "name": "l"}, {"kind": "long", "name": "listen"}],
                 "defaultValue": "127.0.0.1:1, [::1]:1"},
                {"kind": "option", "isRepeating": false, "shouldDisplay": false,
                 "names": [{"kind": "long", "name": "fold-bytes"}], "defaultValue": "a, b"},
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "long", "name": "insecure"}]},
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "long", "name": "version"}]},
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "short", "name": "h"}, {"kind": "long", "name": "help"}]}
            ], "subcommands": [{"commandName": "b", "arguments": [
                {"kind": "flag", "isRepeating": false, "shouldDisplay": true,
                 "names": [{"kind": "long", "name": "other"}]}
            ]}]}}
            """
        #expect(
            SettingFlag.list(ofDump: dump) == [
                SettingFlag("listen", .repeated, defaultTexts: ["127.0.0.1:1", "[::1]:1"]),
                SettingFlag("fold-bytes", .single, isHidden: true, defaultTexts: ["a, b"]),
                SettingFlag("insecure", .toggle, defaultTexts: ["false"]),
            ]
        )
    }

    @Test func argumentsGiveTheFlagItsValues() {
        #expect(SettingFlag("a", .toggle).arguments(["true"]) == ["--a"])
        #expect(SettingFlag("a", .toggle).arguments(["false"]) == [])
        #expect(SettingFlag("a", .single).arguments(["-1"]) == ["--a=-1"])
        #expect(SettingFlag("a", .repeated).arguments(["b", ""]) == ["--a=b", "--a", ""])
    }
}
