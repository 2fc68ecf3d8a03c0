"""FIT files as a device writes them: a header, definitions and messages, a checksum."""

import struct
from collections.abc import Sequence

from fitdecode.utils import compute_crc

EPOCH = 631_065_600  # 1989-12-31, in seconds since 1970
NOWHERE = 0x7FFFFFFF  # the position of a record without one

_FILE_ID, _RECORD = 0, 20  # numbers of messages
_ENUM, _SINT32, _UINT32 = 0x00, 0x85, 0x86  # types of fields

Record = tuple[float | None, float | None, float]
"""Latitude, longitude, seconds since 1970."""


def semicircles(degrees: float | None) -> int:
    return NOWHERE if degrees is None else round(degrees * 2**31 / 180)


def definition(local: int, message: int, fields: Sequence[tuple[int, int, int]]) -> bytes:
    """Define a message: number, size and type of each field."""
    head = struct.pack("<BBBHB", 0x40 | local, 0, 0, message, len(fields))
    return head + b"".join(struct.pack("<BBB", *field) for field in fields)


def fit(records: Sequence[Record], file_type: int = 4, epoch: int = EPOCH) -> bytes:
    """Write a file of records; an activity has the type 4, a course 6."""
    body = definition(0, _FILE_ID, [(0, 1, _ENUM)]) + struct.pack("<BB", 0, file_type)
    body += definition(1, _RECORD, [(253, 4, _UINT32), (0, 4, _SINT32), (1, 4, _SINT32)])
    for lat, lon, time in records:
        place = semicircles(lat), semicircles(lon)
        body += struct.pack("<BIii", 1, int(time) - epoch, *place)
    head = struct.pack("<BBHI4s", 14, 0x10, 2100, len(body), b".FIT")
    whole = head + struct.pack("<H", compute_crc(head)) + body
    return whole + struct.pack("<H", compute_crc(whole))
