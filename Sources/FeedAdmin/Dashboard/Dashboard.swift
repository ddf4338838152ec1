/// The dashboard: one page that loads nothing but its own service's `/history`.
///
/// `dashboard.html` is compiled into the program, which stays a single file.
package enum Dashboard {
    /// The page as it is sent.
    package static var page: [UInt8] { PackageResources.dashboard_html }
}
