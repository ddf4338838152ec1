import Foundation

/// proto/feed.proto, read closely enough to check its rules.
struct Contract {
    struct Field {
        let message: String
        let type: String
        let name: String
    }

    private(set) var messages: [String] = []
    private(set) var fields: [Field] = []
    /// The value names of each enum, in the order of their numbers.
    private(set) var enums: [String: [String]] = [:]

    init(_ source: String) {
        var block: (kind: String, name: String)?
        for line in source.split(separator: "\n") {
            let code = line.prefix { $0 != "/" }
            let words = code.split(whereSeparator: { " {};=".contains($0) }).map(String.init)
            guard let first = words.first else {
                if code == "}" { block = nil }
                continue
            }
            if first == "message" || first == "enum" {
                if first == "message" { messages.append(words[1]) }
                block = code.hasSuffix("{}") ? nil : (first, words[1])
            } else if let block, block.kind == "enum" {
                enums[block.name, default: []].append(first)
            } else if let block, first != "oneof" {
                let type = first == "repeated" ? words[1] : first
                let name = first == "repeated" ? words[2] : words[1]
                fields.append(Field(message: block.name, type: type, name: name))
            }
        }
    }

    /// The messages that contain themselves, directly or through others.
    var recursiveMessages: [String] {
        messages.filter { start in
            var reached: Set<String> = []
            var open = [start]
            while let message = open.popLast() {
                for field in fields where field.message == message {
                    if reached.insert(field.type).inserted { open.append(field.type) }
                }
            }
            return reached.contains(start)
        }
    }

    static func published() throws -> (Contract, source: String) {
        let source = try repositoryFile("proto/feed.proto")
        return (Contract(source), source)
    }

    static func repositoryFile(_ path: String) throws -> String {
        var url = URL(filePath: #filePath)
        for _ in 0..<4 { url.deleteLastPathComponent() }
        return try String(contentsOf: url.appending(path: path), encoding: .utf8)
    }
}
