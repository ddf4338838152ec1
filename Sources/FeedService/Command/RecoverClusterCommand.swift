internal import ArgumentParser
internal import FeedJournal
internal import FeedState
internal import Foundation

/// `feed-service recover-cluster --accept-lost-changes DIR`: makes the directory of a machine whose cluster
/// lost its majority the first one of another cluster.
struct RecoverClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover-cluster",
        abstract: "Makes a new cluster of a directory whose cluster has lost its majority.",
        discussion: """
            For a cluster most of whose machines do not come back. All that the directory has stays, \
            under a new instance: page tokens and channels of the old one mean nothing any more. What \
            the cluster acknowledged after the directory's last record is lost, so take the machine \
            with the highest one, which feed-service verify prints. Prints what to type next. Until \
            a service has started in the directory, the command can be typed again, and prints the \
            same.
            """
    )

    @Flag(help: "Give up what the cluster acknowledged after the directory's last record.")
    var acceptLostChanges = false

    @Argument(help: "The data directory.")
    var directory: String

    func run() throws {
        let recovered: ClusterRecovery
        do throws(StateStartError) {
            guard acceptLostChanges else { throw .unacceptedClusterLoss }
            recovered = try ClusterRecovery.run(path: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, directory: directory, command: .recoverCluster)
            )
        }
        let begun = recovered.begun
        let (last, cluster) = (begun.last.number, begun.cluster)
        let time = Date(timeIntervalSince1970: Double(recovered.lastMicroseconds) / 1_000_000)
        print(
            """
            instance \(hexadecimal(recovered.old)) is instance \(hexadecimal(begun.instanceID)) \
            now, a cluster of one machine
            last index \(last)
            cluster \(cluster)
            lost is what the old cluster acknowledged after record \(last), of \
            \(time.formatted(.iso8601)): this machine does not know how much
            before another machine of the old cluster is started again, move its data directory and \
            feed-replica's away
            type next, once feed-replica's directory on this machine is moved away, too:
            feed-replica init --config feed-replica.yaml --last-index \(last) --cluster \(cluster)
            """
        )
    }
}
