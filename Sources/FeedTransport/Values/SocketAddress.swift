/// An IPv4 or IPv6 address with a port.
package struct SocketAddress: Sendable, Hashable {
    /// The address without the port, in network order.
    package enum Host: Sendable, Hashable {
        /// Four bytes, the first one highest.
        case v4(UInt32)
        /// Sixteen bytes, the first one highest; never an IPv4-mapped address.
        case v6(high: UInt64, low: UInt64)

        /// The host of an IPv6 address; `::ffff:127.0.0.1`, which is IPv4-mapped, is `127.0.0.1`.
        ///
        /// The IPv6 sockets here take no IPv4 connections and cannot use such an address: the
        /// system answers EINVAL.
        package init(high: UInt64, low: UInt64) {
            let isMapped = high == 0 && low >> 32 == 0xffff
            self = isMapped ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high: high, low: low)
        }

        /// Whether only this machine has the address.
        package var isLoopback: Bool {
            switch self {
            case .v4(let bytes): bytes >> 24 == 127
            case .v6(let high, let low): high == 0 && low == 1
            }
        }
    }

    /// The machine.
    package var host: Host

    /// The port; 0 lets the kernel choose one when listening.
    package var port: UInt16

    /// An address made of its parts.
    package init(host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// This machine's loopback address over IPv4.
    package static func loopback(port: UInt16) -> Self {
        Self(host: .v4(0x7f00_0001), port: port)
    }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool { host.isLoopback }
}

extension SocketAddress: CustomStringConvertible {
    /// The form that ``init(parsing:)`` reads.
    package var description: String {
        switch host {
        case .v4: "\(hostText):\(port)"
        case .v6: "[\(hostText)]:\(port)"
        }
    }
}
