/// Finds the process that serves a port of this machine.
package enum ServerProcess {
    /// The id of a process that listens on `port`, or nil where there is none that we may inspect.
    package static func find(port: UInt16) -> Int? {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(ProcFile.text)
        let inodes = Set(tables.flatMap { listeningInodes($0, port: port) })
        guard !inodes.isEmpty else { return nil }
        let links = Set(inodes.map { "socket:[\($0)]" })
        for process in ProcFile.numbers(in: "/proc") {
            let folder = "/proc/\(process)/fd"
            for descriptor in ProcFile.numbers(in: folder) {
                if let link = ProcFile.link("\(folder)/\(descriptor)"), links.contains(link) {
                    return process
                }
            }
        }
        return nil
    }

    /// The sockets that listen on `port` in the text of `/proc/net/tcp`: the second column is the
    /// local address with the port in hexadecimal, the fourth the state (0A listens), the tenth the
    /// inode.
    package static func listeningInodes(_ table: String, port: UInt16) -> [UInt64] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 9, fields[3] == "0A",
                let colon = fields[1].lastIndex(of: ":"),
                UInt16(fields[1][fields[1].index(after: colon)...], radix: 16) == port
            else { return nil }
            return UInt64(fields[9])
        }
    }
}
