"""Metadata of a release for mobility data portals: mobilityDCAT-AP 1.1, as JSON-LD."""

import json
from pathlib import Path

from trajanon.common.inputs import Json
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.page.templates import rendered
from trajanon.evaluation.publisher import OSM_LICENCE, Publisher
from trajanon.release.release_words import cost
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

_FILE_TYPES = {
    ".parquet": "PARQUET",
    ".gpkg": "GPKG",
    ".geojson": "GEOJSON",
    ".csv": "CSV",
    ".gpx": "XML",
    ".mfjson": "JSON",
}


def metadata(evaluation: Evaluation, released: Path) -> dict[str, Json]:
    """Describe a release; what only its publisher knows is absent unless the publisher said it.

    Of the mandatory properties these are ``dct:publisher``, ``dcat:accessURL`` and, of data that
    are not of OpenStreetMap, ``dct:rights``.
    """
    words = evaluation.publisher
    rights = words.licence
    if evaluation.report.attribution == OSM_ATTRIBUTION:
        rights = OSM_ATTRIBUTION
        words = Publisher(licence=OSM_LICENCE)

    text = rendered(
        "mobility_metadata.json",
        evaluation=evaluation,
        cost=cost(evaluation.report, evaluation.crowd),
        file_type=_FILE_TYPES.get(released.suffix.lower(), "PARQUET"),
        licence=words.licence_address,
        rights=rights,
    )
    described: dict[str, Json] = json.loads(text)
    return described
