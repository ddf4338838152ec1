import Foundation

/// The report as one page of HTML that loads nothing: its style, its script and its data are in it.
///
/// The files of `Web/` are compiled into the program. The page is made from JSON reports alone. It draws
/// what they have: a member that a report lacks is a chart that the page lacks.
package struct ReportPage {
    private let documents: [ReportDocument]

    /// A page of some reports, the first of which has the verdict; more than one are drawn over
    /// each other.
    package init(_ documents: [ReportDocument]) {
        precondition(!documents.isEmpty, "A page shows a report.")
        self.documents = documents
    }

    /// The most reports of a page.
    package static let mostDocuments = 6

    /// The page.
    package func rendered() -> String {
        // The data comes last: its texts are those of others, and may look like a place for a part.
        Self.text(PackageResources.report_html)
            .replacing("{{style}}", with: Self.text(PackageResources.report_css))
            .replacing(
                "{{script}}",
                with: Self.text(PackageResources.chart_js + PackageResources.report_js)
            )
            .replacing("{{data}}", with: data)
    }

    private static func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }

    /// The reports as JSON that cannot end its element.
    private var data: String {
        let runs = JSONValue.array(documents.map { $0.data(runCount: documents.count) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(["runs": runs]), as: UTF8.self)
            return text.replacing("<", with: "\\u003c")
        } catch {
            preconditionFailure("A report that was read can be written: \(error)")
        }
    }
}
