import FeedConcurrency
import FeedService
import FeedTestSupport
import Testing

@Suite struct WatchScheduleTests {
    private static func instant(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }

    @Test(arguments: 1...5)
    func membersAreTakenOnceAndNotBeforeTheyAreDue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var now = 12_345
        var schedule = WatchSchedule<Int>(at: Self.instant(now))
        var due: [Int: Int] = [:]
        for member in 0..<500 {
            let instant = now + Int.random(in: -20...1_000, using: &random)
            due[member] = instant
            schedule.add(member, in: schedule.tick(forDue: Self.instant(instant)))
            now += Int.random(in: 0...30, using: &random)
            if random.oneIn(20) { now += 3_000 }
            for (taken, _) in schedule.takeDue(at: Self.instant(now)) {
                #expect(due.removeValue(forKey: taken) ?? .max <= now)
            }
            // A member is late by a tick at most, and by two more where it was due before it came. No tick
            // has a crowd here.
            #expect(due.values.allSatisfy { $0 + 30 > now })
        }
        #expect(Set(schedule.takeDue(at: Self.instant(now + 2_000)).map(\.member)) == Set(due.keys))
    }

    /// 600 members that came together, each due again 250 ms after it was taken: after twenty rounds
    /// no 10 ms have more than twice what they would have if all were alike, and few are late.
    @Test func membersThatCameTogetherSpread() {
        let count = 600
        let interval = 250
        var schedule = WatchSchedule<Int>(at: Self.instant(0))
        for member in 0..<count {
            schedule.add(member, in: schedule.tick(forDue: Self.instant(interval)))
        }
        var due = Array(repeating: interval, count: count)
        var mostInTick = 0
        var takenCount = 0
        var lateCount = 0
        for now in stride(from: 0, through: 21 * (interval + 20), by: 10) {
            let taken = schedule.takeDue(at: Self.instant(now))
            var lateInTick = 0
            for (member, _) in taken {
                #expect((0...20).contains(now - due[member]))
                if now > due[member] { lateInTick += 1 }
                due[member] = now + interval
                schedule.add(member, in: schedule.tick(forDue: Self.instant(due[member])))
            }
            guard now > 20 * (interval + 20) else { continue }
            mostInTick = max(mostInTick, taken.count)
            takenCount += taken.count
            lateCount += lateInTick
        }
        #expect((1...2 * count * 10 / interval).contains(mostInTick))
        #expect(lateCount * 4 < takenCount)
    }

    /// So few as are served together anyway are not late.
    @Test func aFewMembersAreNotLate() {
        var schedule = WatchSchedule<Int>(at: Self.instant(0))
        let tick = WatchTick.number(from: Self.instant(250))
        for member in 0..<8 {
            #expect(schedule.tick(forDue: Self.instant(250)) == tick)
            schedule.add(member, in: tick)
        }
        #expect(schedule.tick(forDue: Self.instant(250)) == tick + 1)
    }

    @Test func aMemberBeyondTheRingIsTakenEarly() {
        var schedule = WatchSchedule<Int>(at: Self.instant(0))
        let tick = schedule.tick(forDue: Self.instant(60_000))
        #expect(tick < WatchTick.number(from: Self.instant(60_000)))
        schedule.add(1, in: tick)
        #expect(schedule.takeDue(at: Self.instant(60_000)).map(\.tick) == [tick])
        #expect(schedule.takeDue(at: Self.instant(90_000)).isEmpty)
    }
}
