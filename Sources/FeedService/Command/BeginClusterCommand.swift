internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// `feed-service begin-cluster DIR`: makes a data directory the first one of a cluster.
struct BeginClusterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin-cluster",
        abstract: "Makes a data directory that no service uses the first one of a cluster.",
        discussion: """
            All that the directory has stays, and so does its instance. From then on only a service \
            beside a feed-replica serves it, and there is no way back but a backup that is restored. \
            Prints what to type next. As long as the cluster has no record, the command can be typed \
            again, and prints the same.
            """
    )

    @Argument(help: "The data directory.")
    var directory: String

    func run() throws {
        let begun: ClusterBeginning
        do throws(StateStartError) {
            begun = try ClusterBeginning.run(path: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, directory: directory, command: .beginCluster)
            )
        }
        let (last, cluster) = (begun.last.number, begun.cluster)
        print("instance \(hexadecimal(begun.instanceID)) is a cluster of one machine now")
        print("last index \(last)")
        print("cluster \(cluster)")
        print("type next:")
        print(
            "feed-replica init --config feed-replica.yaml --last-index \(last) --cluster \(cluster)"
        )
    }
}
