import FeedService
import FeedTransport
import Testing

@Suite struct DeviceAdmissionTests {
    static let minute: Int64 = 60_000

    @Test func admitsSoManyAHostAndMinute() {
        let admission = DeviceAdmission(limit: 3)
        let admitted = (0..<5).map { _ in admission.admit(host: .v4(1), unixMilliseconds: 59_999) }
        #expect(admitted == [true, true, true, false, false])
        #expect(admission.admit(host: .v4(2), unixMilliseconds: 59_999))
        #expect(admission.admit(host: .v4(1), unixMilliseconds: Self.minute))
    }

    @Test func boundsTheHostsItCounts() {
        let admission = DeviceAdmission(limit: 2)
        for host in 0..<UInt32(DeviceAdmission.maximumHostCount) {
            #expect(admission.admit(host: .v4(host), unixMilliseconds: 0))
        }
        #expect(!admission.admit(host: .v4(.max), unixMilliseconds: 0))
        #expect(admission.admit(host: .v4(7), unixMilliseconds: 0))
        #expect(admission.admit(host: .v4(.max), unixMilliseconds: Self.minute))
    }
}
