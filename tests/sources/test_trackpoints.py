"""The pages of the OSM API become traces again."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from trajanon.extract.sources.gpx_document import Document, Segment
from trajanon.extract.sources.osm_api import REPEATED, WITHOUT_TIME, joined_traces

ANN = "/user/ann/traces/7"
BOB = "/user/bob/traces/6"


def segment(track: int, url: str | None, times: Sequence[float | None]) -> Segment:
    """Points on a meridian, one a second; None is a point without time."""
    time = np.array([np.nan if t is None else t for t in times], dtype=np.float64)
    lat = np.where(np.isnan(time), 50.0, 40 + time / 1e4)
    return Segment(track, url, lat, np.full(len(time), 2.0), time)


def page(*segments: Segment) -> Document:
    return Document(segments)


class Asked:
    """Pages that remember how many of them were taken."""

    def __init__(self, *pages: Document) -> None:
        self.pages = pages
        self.taken = 0

    def __iter__(self) -> Iterator[Document]:
        for one in self.pages:
            self.taken += 1
            yield one


def test_a_trace_cut_by_a_page_border_is_whole_again() -> None:
    found = list(joined_traces([page(segment(1, ANN, [1, 2])), page(segment(1, ANN, [3, 4, 5]))]))
    assert [trace.time.tolist() for trace in found] == [[1, 2, 3, 4, 5]]
    assert [(trace.name, trace.subject) for trace in found] == [(ANN, "osm:ann")]


def test_a_trace_over_three_pages_is_one() -> None:
    pages = [page(segment(1, ANN, [i])) for i in range(3)]
    assert [len(trace) for trace in joined_traces(pages)] == [3]


def test_the_last_trace_of_the_last_page_asked_for_may_go_on() -> None:
    pages = [page(segment(1, ANN, [1, 2]), segment(2, BOB, [3, 4])), page(segment(1, BOB, [5]))]
    untimed = page(segment(1, None, [None]))
    for given, saved, expected in (
        (pages, False, [False, True]),
        (pages, True, [False, False]),
        ([*pages, untimed], False, [False, False]),
        ([*pages, page()], False, [False, False]),
    ):
        assert [one.cut_off for one in joined_traces(given, saved=saved)] == expected


def test_two_accounts_at_a_page_border_stay_apart() -> None:
    pages = [page(segment(1, ANN, [1, 2])), page(segment(1, BOB, [3, 4]))]
    assert [trace.subject for trace in joined_traces(pages)] == ["osm:ann", "osm:bob"]


def test_a_trackable_trace_goes_on_when_its_time_does() -> None:
    pages = [page(segment(1, None, [0, 10])), page(segment(1, None, [310, 320]))]
    assert [len(trace) for trace in joined_traces(pages)] == [4]


def test_a_trackable_trace_ends_at_a_step_back() -> None:
    pages = [page(segment(1, None, [9, 10])), page(segment(1, None, [8, 9.5]))]
    found = list(joined_traces(pages))
    assert [trace.name for trace in found] == ["trackable 1", "trackable 2"]
    assert [trace.subject for trace in found] == [None, None]


def test_a_long_pause_at_a_page_border_parts_the_track_but_not_the_recording() -> None:
    """Taken for two recordings, it would count as two people."""
    pages = [page(segment(1, None, [0, 10])), page(segment(1, None, [311, 320]))]
    found = list(joined_traces(pages))
    assert [(trace.name, len(trace)) for trace in found] == [("trackable 1", 2)] * 2


def test_a_trackable_piece_is_not_joined_to_an_identifiable_one() -> None:
    pages = [page(segment(1, ANN, [1, 2])), page(segment(1, None, [3, 4]))]
    assert [len(trace) for trace in joined_traces(pages)] == [2, 2]


def test_segments_inside_a_page_are_not_joined() -> None:
    one = page(segment(1, ANN, [1, 2]), segment(1, ANN, [3, 4]))
    assert [trace.name for trace in joined_traces([one])] == [ANN, ANN]


def test_the_segments_of_one_trackable_track_share_their_name() -> None:
    pages = [
        page(segment(1, None, [1, 2]), segment(2, None, [11]), segment(2, None, [900])),
        page(segment(1, None, [901]), segment(1, None, [5000]), segment(2, None, [1])),
    ]
    found = [(trace.name, len(trace)) for trace in joined_traces(pages)]
    assert found == [("trackable 1", 2), ("trackable 2", 1), ("trackable 2", 2), ("trackable 2", 1)]


def test_no_page_is_asked_for_after_one_with_a_segment_without_time() -> None:
    pages = Asked(
        page(segment(1, ANN, [1, 2])),
        page(segment(1, ANN, [3]), segment(2, None, [None, None])),
        page(segment(1, None, [None])),
    )
    dropped = Counter[str]()
    assert [len(trace) for trace in joined_traces(pages, dropped)] == [3]
    assert pages.taken == 2
    assert dropped[WITHOUT_TIME] == 2


def test_a_point_without_time_among_others_is_dropped_and_paging_goes_on() -> None:
    pages = Asked(page(segment(1, ANN, [1, None, 2])), page(segment(1, ANN, [3])))
    assert [len(trace) for trace in joined_traces(pages)] == [3]
    assert pages.taken == 2


def test_no_page_is_asked_for_after_an_empty_one() -> None:
    pages = Asked(page(segment(1, ANN, [1])), page(), page(segment(1, BOB, [2])))
    assert [trace.name for trace in joined_traces(pages)] == [ANN]
    assert pages.taken == 2


def test_no_page_is_asked_for_after_one_without_a_new_point() -> None:
    again = page(segment(1, ANN, [1, 2]))
    pages = Asked(again, again, page(segment(1, BOB, [9])))
    dropped = Counter[str]()
    assert [len(trace) for trace in joined_traces(pages, dropped)] == [2]
    assert pages.taken == 2
    assert dropped[REPEATED] == 2


def test_points_repeated_by_an_upload_during_paging_are_dropped() -> None:
    pages = [
        page(segment(1, BOB, [100, 101]), segment(2, ANN, [1, 2, 3])),
        page(segment(1, BOB, [101]), segment(2, ANN, [1, 2, 3, 4, 5])),
    ]
    dropped = Counter[str]()
    found = list(joined_traces(pages, dropped))
    assert [trace.time.tolist() for trace in found] == [[100, 101], [1, 2, 3, 4, 5]]
    assert dropped == {REPEATED: 4, WITHOUT_TIME: 0}


def test_points_repeated_inside_a_page_are_kept() -> None:
    assert [len(trace) for trace in joined_traces([page(segment(1, ANN, [1, 1, 1]))])] == [3]


def test_no_pages_give_no_traces() -> None:
    assert list(joined_traces([])) == []


def test_every_page_is_read_where_pages_cost_nothing() -> None:
    pages = [
        page(),
        page(segment(1, None, [None])),
        page(segment(1, ANN, [1])),
        page(segment(1, None, [9])),
    ]
    found = list(joined_traces(pages, where="here: ", saved=True))
    assert [trace.name for trace in found] == [ANN, "here: trackable 1"]


def test_a_url_without_account_is_its_own_account() -> None:
    assert [t.subject for t in joined_traces([page(segment(1, "/x", [1]))])] == ["osm:/x"]
