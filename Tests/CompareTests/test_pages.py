"""The table of pages, from what pump tells; and what the floor of pages answers."""

import types
import unittest

from fake_server import FakeServer, framed

import support  # noqa: F401

import clients
import frames
import pages

OPTIONS = types.SimpleNamespace(growth_rounds=1, seconds=1)


def sample(microseconds, received=2000):
    """Of a thousand operations."""
    return clients.Sample({
        "seconds": 1, "votes": 50, "pages": 950, "server_seconds": microseconds / 1e3,
        "client_seconds": 0.1, "busy_seconds": 0.2, "steal_seconds": 0,
        "received_bytes": received * 1000})


def results():
    """A multiple of the floor of 1.35 in each cell of 1,000 posts, but for HOT, with twice as much."""
    found = {}
    for cell in pages.cells([1000, 10_000]):
        service = 1.35 * (2 if cell.case.startswith("HOT") else 1) * (1.5 if cell.posts > 1000 else 1)
        found[cell] = [{"service": sample(service), "floor": sample(1, 1990)}]
        if cell.case == pages.TOP.name:
            found[cell][0]["redis"] = sample(13.5)
    return found


class PagesTests(unittest.TestCase):
    def row(self, *first):
        """The cells of the row that begins so, behind these."""
        found, = (row[len(first):] for row in pages.PART.table(results(), OPTIONS).rows
                  if row[:len(first)] == list(first))
        return found

    def test_has_a_row_for_each_cell(self):
        rows = [tuple(row[:4]) for row in pages.PART.table(results(), OPTIONS).rows]
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(len(rows), 2 * (6 + 4 + 6 + 6 + 4))

    def test_has_what_an_operation_costs_beside_the_floor_and_redis(self):
        self.assertEqual(self.row("1,000", "TOP", "95/5", "1"),
                         ["1.35", "1.35 – 1.35", "1.00", "1.35", "13.50", "10.00", "≤ 1.4: met"])
        self.assertEqual(self.row("1,000", "TOP", "pages alone", "1")[-1], "≤ 1.3: met within noise")
        self.assertEqual(self.row("1,000", "TOP, further pages", "50/50", "1")[4:], ["", "", ""])

    def test_compares_orders_with_top_and_more_posts_with_fewer(self):
        self.assertEqual(self.row("1,000", "HOT, hot posts")[-1], "2.00 × TOP, ≤ 1.3: **missed**")
        self.assertEqual(self.row("10,000", "NEW, hot posts")[-1],
                         "1.00 × TOP, ≤ 1.3: met; 1.50 × 1,000 posts, ≤ 1.3: **missed**")

    def test_says_whether_the_floor_answered_as_many_bytes(self):
        self.assertIn("99.5% – 99.5% of the service's bytes", pages.PART.table(results(), OPTIONS).notes[0])


class RecordedTests(unittest.TestCase):
    def recorded(self, flags):
        """The frames that the floor is to answer, and what the service was asked for them."""
        def answer(frame_id, call):
            content = frames.message({2: b"t%d" % frame_id} if call == 33 else {1: 5})
            return framed(call, content, frame_id)
        with FakeServer(answer) as server:
            data, found = pages.recorded(server, flags), []
            while data:
                end = 4 + int.from_bytes(data[:4], "big")
                found.append(frames.fields_of(data[4:end]))
                data = data[end:]
            return found, [frames.fields_of(body) for body in server.bodies], server.ballots

    def test_is_of_the_page_that_is_measured_and_of_a_vote(self):
        found, asked, _ = self.recorded({"order": 4, "window": 3})
        self.assertEqual([max(one) for one in found], [33, 40])
        self.assertEqual(asked[0], {1: b"posts", 2: 4, 3: 3, 4: 20})

    def test_is_of_the_second_page_if_further_ones_are_measured(self):
        found, asked, _ = self.recorded({"further": True})
        self.assertEqual(asked[1], {**asked[0], 5: b"t1"})
        self.assertEqual(frames.fields_of(found[0][33])[2], b"t2")

    def test_is_for_a_viewer_if_viewers_ask(self):
        _, asked, ballots = self.recorded({"voters": 9, "feed": "ballots"})
        self.assertEqual(asked[0][1], b"ballots")
        self.assertEqual([user for _, user, _ in ballots], [1 << 63])


if __name__ == "__main__":
    unittest.main()
