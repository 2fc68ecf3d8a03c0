"""Tables that could be misread in silence: each is read right, or refused with a way out."""

import json
from collections.abc import Callable
from pathlib import Path

import geo_tables
import numpy as np
import pandas as pd
import pytest
import shapely
from geo_tables import points, write
from hypothesis import example, given, settings
from hypothesis import strategies as st

import trajanon
from trajanon.common.columns_read import columns_read
from trajanon.common.errors import BadInput, FileProblem, NoTrajectories
from trajanon.extract import extract, traces
from trajanon.extract.trace import Trace
from trajanon.extract.why_left_out import people_sentences
from trajanon.trajectories.subjects import AT_TWO_PLACES

START = pd.Timestamp("2023-05-13 08:00:00")
FIXES = 40
Change = Callable[[pd.DataFrame], pd.DataFrame]


def rides(people: int = 4, trips: int = 1, apart: float = 0.002) -> pd.DataFrame:
    """A fix every 20 s on ways that bend, each of its own; all begin at 8."""
    step = np.arange(FIXES)
    rows = [
        pd.DataFrame(
            {
                "trip_id": f"t{person}{trip}",
                "user_id": f"u{person}",
                "seq": step,
                "time": START + pd.to_timedelta(20 * step, unit="s") + pd.Timedelta(days=trip),
                "lat": (48.2 + apart * person + 0.0015 * step).round(6),
                "lon": (16.3 + 0.01 * np.sin(step / 8.0 + person) + 2e-4 * trip).round(6),
            }
        )
        for person in range(people)
        for trip in range(trips)
    ]
    return pd.concat(rows, ignore_index=True)


def written(path: Path, table: pd.DataFrame) -> Path:
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".geojson":
        write(path, points(table))
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        table.to_csv(path, index=False)
    return path


def read(folder: Path, table: pd.DataFrame, suffix: str = ".csv", **columns: str) -> list[Trace]:
    return list(traces(written(folder / f"x{suffix}", table), columns=columns))


def starts(found: list[Trace]) -> set[str]:
    return {str(pd.Timestamp(np.nanmin(one.time), unit="s")) for one in found}


def are_in_order(found: list[Trace]) -> bool:
    return all((np.diff(one.lat) > 0.0).all() for one in found)


def local(table: pd.DataFrame, hours: float = 2.0) -> pd.DataFrame:
    return table.assign(time=table["time"] + pd.Timedelta(hours=hours))


@pytest.mark.parametrize(
    ("name", "zone", "hours"),
    [
        ("tz", "+02:00", 2.0),
        ("timezone", "Europe/Vienna", 2.0),
        ("utc_offset", 7_200, 2.0),
        ("tz_offset", -210, -3.5),
        ("TimeZone", "UTC+2", 2.0),
    ],
)
def test_local_times_are_read_with_the_zone_beside_them(
    tmp_path: Path, name: str, zone: object, hours: float
) -> None:
    table = local(rides(), hours).assign(**{name: zone})
    for suffix in (".csv", ".parquet"):
        assert starts(read(tmp_path, table, suffix)) == {str(START)}
    in_utc = rides().assign(time=lambda rows: rows["time"].astype(str) + "Z", tz="+02:00")
    assert starts(read(tmp_path, in_utc)) == {str(START)}


@pytest.mark.parametrize("zone", ["CEST", "W. Europe Standard Time"])
def test_zones_that_are_not_known_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, zone: str
) -> None:
    """A column that is called zone may be of a town, and says nothing."""
    found = read(tmp_path, rides().assign(timezone=zone, tz=None, zone="A"))
    assert starts(found) == {str(START)}
    (message,) = caplog.messages
    assert (
        f"'timezone' of {tmp_path / 'x.csv'} holds no time zones that are known, such as" in message
    )
    assert f"{zone!r}: times are read as UTC" in message
    with pytest.raises(BadInput, match="none of the times"):
        read(tmp_path, rides().assign(timezone=zone), zone="timezone")


def test_an_hour_that_comes_twice_is_counted_and_zones_of_a_table_differ(tmp_path: Path) -> None:
    table = rides(2).assign(tz=["Europe/Vienna", "-05:00"] * FIXES)
    table["time"] = pd.Timestamp("2023-10-29 02:30") + (table["time"] - START)
    provenance = extract(written(tmp_path / "x.csv", table)).provenance
    assert provenance["counts"]["times that could not be read"] == FIXES


@pytest.mark.parametrize(
    ("names", "hours"),
    [
        (("timestamp", "timestamp_utc"), (2, 0)),
        (("time", "time_utc"), (2, 0)),
        (("datetime_local", "datetime"), (2, 0)),
    ],
)
def test_of_two_clocks_the_one_in_utc_is_taken(
    tmp_path: Path, names: tuple[str, str], hours: tuple[int, int]
) -> None:
    table = rides()
    for name, off in zip(names, hours, strict=True):
        table[f"_{name}"] = table["time"] + pd.Timedelta(hours=off)
    table = table.drop(columns="time").rename(columns={f"_{name}": name for name in names})
    assert starts(read(tmp_path, table)) == {str(START)}


@pytest.mark.parametrize("coarse", [("created_at", "fix_time"), ("time", "measured"), ("ts", "t")])
def test_of_two_clocks_the_finer_is_taken(tmp_path: Path, coarse: tuple[str, str]) -> None:
    """An upload of ten fixes has one time."""
    upload, fix = coarse
    table = rides()
    table[upload] = table.groupby(table.index // 10)["time"].transform("max")
    table = table.assign(**{fix: rides()["time"]})
    table = table[[one for one in table if one not in ("time",) or upload == "time"]]
    assert [len(np.unique(one.time)) for one in read(tmp_path, table)] == [FIXES] * 4


def test_seconds_of_the_minute_are_no_times(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = rides()
    seconds, texts = table["time"].dt.second, table["time"].astype(str)
    for name in ("Timestamp", "t", "ts"):
        beside = table.assign(**{name: seconds}).drop(columns="time")
        assert np.isnan(read(tmp_path, beside)[0].time).all()
        assert f"the column {name!r} of " in caplog.text
        assert "holds numbers that come again and again, no times" in caplog.text
        for other in ("time_utc", "received"):
            whole = beside.assign(**{other: texts + ".000540658 +0000 UTC"})
            assert {start[:19] for start in starts(read(tmp_path, whole))} == {str(START)}
        caplog.clear()


@pytest.mark.parametrize("name", ["last_seen", "when", "heard"])
@pytest.mark.parametrize("unit", [1, 1000])
def test_epochs_under_any_name_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, unit: int
) -> None:
    epochs = unit * (rides()["time"].astype("int64") // 10**6)
    table = rides().drop(columns=["time", "seq"]).assign(**{name: epochs, "phone": 1_683_965_020})
    read(tmp_path, table)
    assert f"{name!r} holds times: set `columns` time={name}" in caplog.text
    assert "'phone' holds" not in caplog.text
    with pytest.raises(BadInput, match=r"lie in no order: set `columns` time=\.\.\., or order="):
        read(tmp_path, table.sample(frac=1.0, random_state=0))


def test_seconds_of_gps_are_told_from_those_of_unix(tmp_path: Path) -> None:
    unix = rides()["time"].astype("int64") // 10**6
    gps = unix - 315_964_800 + 18
    table = rides().drop(columns="time")
    for name in ("gps_time", "GPSTime"):
        with pytest.raises(BadInput, match=f"set `columns` time={name}, or gps_seconds={name}"):
            read(tmp_path, table.assign(**{name: gps}))
        said = read(tmp_path, table.assign(**{name: gps}), gps_seconds=name)
        assert starts(said) == {str(START)}
        assert starts(read(tmp_path, table.assign(**{name: unix}))) == {str(START)}
    assert starts(read(tmp_path, table.assign(gps_seconds=gps))) == {str(START)}
    week = table.assign(gps_week=gps // 604_800, tow=gps % 604_800)
    assert starts(read(tmp_path, week)) == {str(START)}
    with pytest.raises(BadInput, match="none of the times"):
        read(tmp_path, week.assign(gps_week=week["gps_week"] % 1_024))


@pytest.mark.parametrize("name", ["seq", "point_no", "k"])
def test_untimed_points_are_sorted_by_what_numbers_them(tmp_path: Path, name: str) -> None:
    table = rides().drop(columns="time").rename(columns={"seq": name})
    shuffled = table.sample(frac=1.0, random_state=1)
    for suffix in (".csv", ".parquet", ".jsonl"):
        assert are_in_order(read(tmp_path, shuffled, suffix))
    with pytest.raises(BadInput, match="lie in no order"):
        read(tmp_path, shuffled.drop(columns=name))


@pytest.mark.parametrize("name", ["seq", "idx", "track_seg_point_id"])
def test_points_of_one_minute_are_sorted_by_what_numbers_them(tmp_path: Path, name: str) -> None:
    table = rides().rename(columns={"seq": name})
    table["time"] = table["time"].dt.strftime("%Y-%m-%d %H:%M")
    assert are_in_order(read(tmp_path, table.sample(frac=1.0, random_state=1)))


@pytest.mark.parametrize("name", ["plate", "tracker", "pilot_name"])
def test_columns_that_may_name_persons_are_in_the_provenance(tmp_path: Path, name: str) -> None:
    table = rides(3, trips=4).rename(columns={"user_id": name})
    table = table.assign(speed=7, fare=table["trip_id"].str[1:].astype(int), city="Wien")
    path = written(tmp_path / "x.csv", table)
    possible = [{"column": name, "values": 3}]
    assert extract(path).provenance["possible_persons"] == possible
    for said in (name, "none"):
        assert extract(path, columns={"subject": said}).provenance["possible_persons"] == []
    for number, (_, rows) in enumerate(table.groupby("trip_id")):
        written(tmp_path / f"{number}.csv", rows.drop(columns="trip_id"))
    path.unlink()
    assert extract(tmp_path).provenance["possible_persons"] == possible
    if name == "plate":  # once is enough
        assert extract(tmp_path, jobs=2).provenance["possible_persons"] == possible


@pytest.mark.parametrize("above", [("trip", "vehicle"), ("ride", "user"), ("journey", "driver")])
def test_nested_names_keep_their_objects(tmp_path: Path, above: tuple[str, str]) -> None:
    trip, owner = above
    lines = [
        {
            trip: {"id": row.trip_id},
            owner: {"id": row.user_id},
            "position": {"lat": row.lat, "lon": row.lon},
            "time": str(row.time),
        }
        for row in rides(2, trips=2).itertuples()
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    provenance = extract(path).provenance
    (use,) = columns_read(provenance)
    assert (use.roles["id"], use.roles["subject"]) == (f"{trip}.id", f"{owner}.id")
    assert (provenance["counts"]["subjects read"], len(use.unused)) == (2, 0)
    found = list(traces(path, columns={"subject": f"{trip}.id", "lat": "lat"}))
    assert len({one.subject for one in found}) == 4


@pytest.mark.parametrize("owner", [{"imei": "3.57E+14"}, {"user": "admin"}, {"id": "0"}])
def test_points_of_several_people_are_no_recording(
    tmp_path: Path, owner: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    table = rides(apart=0.01).drop(columns=["trip_id", "user_id", "seq"]).assign(**owner)
    (name,) = owner
    with pytest.raises(BadInput, match=f"by the column {name!r}, must be of several people"):
        read(tmp_path, table)
    others = rides().rename(columns={"user_id": name})[table.columns]
    found = read(tmp_path, pd.concat([table, others]))
    assert len(found) == 4
    assert "1 recording of " in caplog.text
    assert "x.csv, by the column " in caplog.text


@pytest.mark.parametrize(
    ("kind", "values"), [("vehicle", ["car", "bike"]), ("owner", ["ACME"]), ("user", ["a", "b"])]
)
def test_a_subject_at_two_places_at_once_is_said(
    tmp_path: Path, kind: str, values: list[str]
) -> None:
    table = rides(6, apart=0.02).drop(columns="user_id")
    number = table["trip_id"].str[1].astype(int) % len(values)
    path = written(tmp_path / "x.csv", table.assign(**{kind: [values[i] for i in number]}))
    provenance = extract(path).provenance
    assert provenance["counts"][AT_TWO_PLACES] == len(values)
    (sentence,) = (text for text in people_sentences(provenance) if "in two places" in text)
    assert f" in {kind!r} " in sentence


def test_trips_taken_for_people_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By what they hold, and by their names where these are usual; nothing is said otherwise."""
    for recording, subject in (("trip_id", "user_id"), ("viaje", "conductor")):
        table = rides(trips=2).rename(columns={"trip_id": recording, "user_id": subject})
        path = written(tmp_path / "x.csv", table)
        exchanged = extract(path, columns={"id": subject, "subject": recording})
        sentences = people_sentences(exchanged.provenance)
        verdict = trajanon.anonymize(exchanged, 2, effort="fast").verdict
        assert verdict is not None
        assert "trips_as_people" in [finding.kind for finding in verdict.findings]
        if subject == "user_id":
            assert "told apart by 'trip_id', and recordings by 'user_id'" in caplog.text
            caplog.clear()
        else:
            assert not caplog.text

        (sentence,) = sentences
        assert f"Each person in {recording!r} has one recording in {subject!r}" in sentence
        assert sentence.endswith(f"set `columns` id={recording},subject={subject}.")
        right = extract(path, columns={"id": recording, "subject": subject})
        assert people_sentences(right.provenance) == []
    assert not caplog.text


@pytest.mark.parametrize(("second", "is_doubted"), [("User-ID", False), ("device_id", True)])
def test_people_of_two_columns_may_be_the_same(
    tmp_path: Path, second: str, is_doubted: bool
) -> None:
    """Ada in the files of an app is 357123 in those of a device."""
    table = rides()
    is_first = table["trip_id"] < "t2"
    written(tmp_path / "app.csv", table[is_first])
    written(tmp_path / "device.csv", table[~is_first].rename(columns={"user_id": second}))
    release = trajanon.anonymize(extract(tmp_path), 2, effort="fast")
    kinds = [finding.kind for finding in release.verdict.findings]
    assert ("people_named_otherwise" in kinds) == is_doubted


@pytest.mark.parametrize("word", ["No fix", "V", "invalid"])
def test_words_of_validity(tmp_path: Path, word: str, caplog: pytest.LogCaptureFixture) -> None:
    table = rides().assign(valid=["SPS", "SPS", "SPS", word] * FIXES)
    assert sum(map(len, read(tmp_path, table))) == 3 * FIXES
    assert not caplog.text
    assert sum(map(len, read(tmp_path, table.assign(valid="perhaps")))) == 4 * FIXES
    assert "with valid 'perhaps', which is not a known word" in caplog.text


@pytest.mark.parametrize(("marked", "trips"), [(12, 4), (13, 4), (16, 0)])
def test_trips_go_on_over_rows_without_a_fix_but_no_longer_than_a_pause(
    tmp_path: Path, marked: int, trips: int
) -> None:
    """A hop over 13 rows is 2,400 m long; one over 16 lasts 340 s, and two short trips remain."""
    before = (FIXES - marked) // 2
    marks = ["SPS"] * before + ["No fix"] * marked + ["SPS"] * (FIXES - marked - before)
    path = written(tmp_path / "x.csv", rides().assign(valid=marks * 4))
    unsplit = extract(path, min_length=5_000) if trips else None
    assert len(unsplit or ()) == trips
    with pytest.raises(NoTrajectories, match=r"within `max_gap` if it is given") as why:
        extract(path, min_length=5_000, max_gap=1_500)
    assert f"rows marked as not valid, {marked / 0.4:g} % ({4 * marked} of 160)" in str(why.value)
    # Rows that are not there say nothing of where somebody was.
    table = rides()
    written(path, table[[mark == "SPS" for mark in marks * 4]])
    with pytest.raises(NoTrajectories):
        extract(path, min_length=5_000)


@pytest.mark.parametrize("key", ["uid", "device_id", "user"])
def test_a_person_is_not_what_counts_rows(
    tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    table = rides(2, trips=2)
    keys = table.assign(**{key: [f"{n:08}" for n in range(len(table))]})
    found = read(tmp_path, keys.drop(columns="user_id"))
    assert [one.subject for one in found] == [None] * 4
    assert f"the column {key!r} of " in caplog.text
    assert {one.subject for one in read(tmp_path, keys)} == {"u0", "u1"}


def test_a_second_header_is_left_out_or_refused(tmp_path: Path) -> None:
    head, *rows = rides(2).to_csv(index=False).splitlines()
    path = tmp_path / "x.csv"
    path.write_text(
        "\n".join([head, *rows[:FIXES], f'"{head}"'.replace(",", '","'), *rows[FIXES:]])
    )
    provenance = extract(path).provenance
    assert provenance["counts"]["lines that repeat the names of columns"] == 1
    assert provenance["recordings"]["read"] == 2
    for old, new in (("lat,lon", "lon,lat"), ("trip_id,user_id", "user_id,trip_id")):
        path.write_text("\n".join([head, *rows[:FIXES], head.replace(old, new), *rows[FIXES:]]))
        with pytest.raises(FileProblem, match="a second header in another order"):
            extract(path)


@pytest.mark.parametrize("name", ["trip", "ride_id", "rental_id", "journey"])
def test_rows_without_a_user_are_not_lost(tmp_path: Path, name: str) -> None:
    table = rides(5, trips=3).rename(columns={"trip_id": name, "user_id": "user"})
    table.loc[table["user"] == "u4", "user"] = None
    for suffix in (".csv", ".parquet", ".jsonl"):
        found = read(tmp_path, table, suffix)
        assert (len(found), sum(map(len, found))) == (15, len(table))
        assert len({one.subject for one in found} - {None}) == 4


def test_a_column_that_may_hold_recordings_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = rides(3, trips=3).rename(columns={"trip_id": "hire"})
    assert len(read(tmp_path, table.assign(speed=table.index % 7, city="Wien"))) == 3
    (message,) = caplog.messages
    assert message.startswith("the column 'hire' of ")
    assert message.endswith("if it does, set `columns` id=hire")


def test_attributes_of_lines_may_name_persons(tmp_path: Path) -> None:
    lines = [
        shapely.LineString(rows[["lon", "lat"]].to_numpy())
        for _, rows in rides(4).groupby("trip_id")
    ]
    names = {"vendor": ["A", "B", "A", "B"], "name": ["a", "b", "c", "d"], "length": [1, 1, 2, 2]}
    path = write(tmp_path / "x.geojson", geo_tables.lines(lines, "EPSG:4326", **names))
    possible = extract(path).provenance["possible_persons"]
    assert possible == [{"column": "vendor", "values": 2}, {"column": "length", "values": 2}]


NAMES = {
    "trip_id": ["trip_id", "ride_id", "Trip ID", "TRAJ_ID"],
    "user_id": ["user_id", "UserID", "driver id", "MMSI"],
    "time": ["time", "timestamp", "DateTime", "recorded_at"],
    "lat": ["lat", "Latitude", "y"],
    "lon": ["lon", "lng", "Longitude"],
}


USUAL_NAMES = {role: names[0] for role, names in NAMES.items()}


def written_as_gpx(folder: Path, table: pd.DataFrame) -> Path:
    """A file for each trip, in a folder of each spelling of a person, with points in any order."""
    for (trip, person), rows in table.groupby(["trip_id", "user_id"]):
        points = "".join(
            f'<trkpt lat="{row.lat}" lon="{row.lon}"><time>{row.time}</time></trkpt>'
            for row in rows.itertuples()
        )
        path = folder / person / f"{trip}.gpx"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'<gpx version="1.1"><trk><trkseg>{points}</trkseg></trk></gpx>')
    return folder


def people_and_trips(source: Path, **columns: str) -> tuple[int, int]:
    trips = extract(source, columns=columns)
    return trips.provenance["counts"]["subjects of trajectories"], len(trips)


@pytest.mark.parametrize(
    ("column", "first", "second", "people"),
    [
        ("vehicle", "00{}", "{}", 3),
        ("bike_id", "7{}.0", "７{}", 3),
        ("driver", "Ada Nr. {}", "ADA  NR. {}\u200b", 3),
        ("rider", "no.{}", "No.{}.", 3),
        ("mmsi", "20{}", "2{}", 6),
        ("user", "u{}", "", 4),  # whoever has no name is one more
        ("person", "", "", 6),  # nobody has a name: each recording counts
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_names_in_two_files_are_of_as_many_people(
    tmp_path: Path, column: str, first: str, second: str, people: int, suffix: str
) -> None:
    """Three people of two trips each, all in one order in the one file, mixed in the other."""
    table = rides(3, trips=2).drop(columns="seq").rename(columns={"user_id": column})
    number = table[column].str[1:]
    is_first = table["trip_id"].str.endswith("0")
    for name, rows, spelled in (("a", is_first, first), ("b", ~is_first, second)):
        part = table[rows].assign(**{column: number[rows].map(spelled.format)})
        written(tmp_path / f"{name}{suffix}", part.sample(frac=1.0, random_state=1))
    assert people_and_trips(tmp_path) == (people, 6)


@pytest.mark.parametrize(("digits", "hours", "column"), [(7, 0, "cab"), (5, 0, ""), (6, 2, "uid")])
def test_rides_that_are_also_there_as_gpx_are_of_the_same_people(
    tmp_path: Path, digits: int, hours: int, column: str
) -> None:
    table = rides(3).drop(columns="seq")
    written_as_gpx(tmp_path, table)
    copied = local(table, hours).round({"lat": digits, "lon": digits})
    copied = copied.rename(columns={"user_id": column or "user_id"})
    written(tmp_path / "x.csv", copied if column else copied.drop(columns="user_id"))
    assert people_and_trips(tmp_path)[0] == 3


@pytest.mark.parametrize("kind", ["gpx", "kml"])
def test_tracks_of_one_file_at_one_time_may_be_of_a_person_each(tmp_path: Path, kind: str) -> None:
    tracks = ""
    for _, rows in rides(4, apart=0.02).groupby("user_id"):
        whens = [f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in rows["time"]]
        places = list(zip(rows["lat"], rows["lon"], whens, strict=True))
        if kind == "gpx":
            fixes = [f'<trkpt lat="{y}" lon="{x}"><time>{t}</time></trkpt>' for y, x, t in places]
            tracks += f"<trk><trkseg>{''.join(fixes)}</trkseg></trk>"
        else:
            fixes = [f"<when>{t}</when><gx:coord>{x} {y} 0</gx:coord>" for y, x, t in places]
            tracks += f"<Placemark><gx:Track>{''.join(fixes)}</gx:Track></Placemark>"
    path = tmp_path / f"ride.{kind}"
    spaces = 'xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"'
    path.write_text(f"<{kind} {spaces if kind == 'kml' else ''}>{tracks}</{kind}>")
    assert people_and_trips(path) == (1, 4)
    assert people_and_trips(path, subject="track") == (4, 4)


@given(
    seed=st.integers(0, 1_000),
    names=st.fixed_dictionaries({role: st.sampled_from(some) for role, some in NAMES.items()}),
    suffix=st.sampled_from([".csv", ".parquet", ".jsonl", ".geojson", ".gpx"]),
    digits=st.integers(5, 7),
    notation=st.sampled_from(["naive", "Z", "+02:00", "seconds", "milliseconds", "zone"]),
    case=st.sampled_from([str.lower, str.upper, str.title]),
)
@example(seed=0, names=USUAL_NAMES, suffix=".gpx", digits=5, notation="Z", case=str.upper)
@example(seed=1, names=USUAL_NAMES, suffix=".gpx", digits=7, notation="+02:00", case=str.title)
@settings(max_examples=12, deadline=None)
def test_how_a_table_is_written_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    names: dict[str, str],
    suffix: str,
    digits: int,
    notation: str,
    case: Callable[[str], str],
) -> None:
    """Neither to people nor to trips, nor to any time by more than a second."""
    table = rides(3, trips=2).drop(columns="seq").sample(frac=1.0, random_state=seed)
    table = table.round({"lat": digits, "lon": digits})
    half = np.arange(len(table)) % 2 == 0
    table["user_id"] = table["user_id"].where(half, table["user_id"].map(case))
    table["user_id"] = table["user_id"].str.lower().where(half, table["user_id"])
    time = table["time"]
    seconds = time.astype("int64") // 10**6
    local_time = time + pd.Timedelta(hours=2)
    table["time"] = {
        "naive": time.astype(str),
        "Z": time.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "+02:00": local_time.dt.strftime("%Y-%m-%dT%H:%M:%S+02:00"),
        "seconds": seconds,
        "milliseconds": 1_000 * seconds,
        "zone": local_time.astype(str),
    }[notation]
    if notation == "zone":
        table["tz"] = "Europe/Vienna"
    folder = tmp_path_factory.mktemp("x")
    if suffix == ".geojson":  # its coordinates have no names
        names = names | {"lat": "lat", "lon": "lon"}
    if suffix != ".gpx":
        found = read(folder, table.rename(columns=names), suffix)
    else:
        if notation not in ("naive", "Z", "+02:00"):  # a format of texts in ISO 8601
            table["time"] = time.dt.strftime("%Y-%m-%dT%H:%M:%SZ")
        # A trip is one file, in the folder of its person.
        table["user_id"] = table.groupby("trip_id")["user_id"].transform("first")
        found = list(traces(written_as_gpx(folder, table), columns={"subject": "folder"}))
    assert len(found) == 6
    assert len({str(one.subject).lower() for one in found}) == 3
    for one in found:
        day = START + pd.Timedelta(days=int(one.name.removesuffix(".gpx")[-1]))
        expected = day.timestamp() + 20.0 * np.arange(FIXES)
        assert np.abs(np.sort(one.time) - expected).max() <= 1.0
