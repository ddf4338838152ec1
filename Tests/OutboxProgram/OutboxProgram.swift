import FeedClient
import FeedOffline
import FeedProto
import Foundation

/// Sends the outbox of a file and ends, unless a test kills it before: `OutboxProgram FILE ADDRESS [FAULT]`.
///
/// With a fault the outbox is sent wrongly, so that a test sees that its audit notices.
@main
enum OutboxProgram {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { fatalError("A file and an address are missing.") }
        let configuration = OfflineConfiguration(path: arguments[1], address: arguments[2])
        let fault = arguments.count > 3 ? OutboxFault(rawValue: arguments[3]) : nil
        let feed = try await OfflineFeed.open(configuration) { file in
            fault.map { FaultyOutbox(file, $0) } ?? file
        }
        // Not print, which keeps a line for itself where the output is a pipe.
        FileHandle.standardOutput.write(Data("opened\n".utf8))
        do {
            try await feed.sync()
        } catch {
            // The service was killed. An error that leaves main would be a crash, whose report takes seconds.
            FileHandle.standardOutput.write(Data("\(error)\n".utf8))
        }
        await feed.close()
    }
}

enum OutboxFault: String {
    /// The file gets the sequences of entries after they were answered.
    case numberedAfterSend = "numbered-after-send"
    /// The file forgets entries before they are answered.
    case removedBeforeAnswer = "removed-before-answer"
}

/// An outbox whose file is wrong while its entries are on their way.
struct FaultyOutbox: OutboxFile {
    private let file: any OutboxFile
    private let fault: OutboxFault

    init(_ file: any OutboxFile, _ fault: OutboxFault) {
        self.file = file
        self.fault = fault
    }

    func numberNext(of userID: UserID) throws(OfflineError) -> [NumberedEntry] {
        let entries = try file.numberNext(of: userID)
        switch fault {
        case .numberedAfterSend: try file.settle(entries.map { ($0.number, .notSent) })
        case .removedBeforeAnswer: try file.settle(entries.map { ($0.number, .gone) })
        }
        return entries
    }

    func settle(_ outcomes: [(number: UInt64, outcome: OutboxOutcome)]) throws(OfflineError) {
        try file.settle(outcomes)
    }
}
