"""Metadata of a release for mobility data portals: mobilityDCAT-AP 1.1, as JSON-LD."""

from pathlib import Path

from trajanon.common.inputs import Json
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.publisher import OSM_LICENCE, Publisher
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "locn": "http://www.w3.org/ns/locn#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "mobilitydcatap": "https://w3id.org/mobilitydcat-ap#",
}
_MOBILITY = "https://w3id.org/mobilitydcat-ap/"
_EUROPE = "http://publications.europa.eu/resource/authority/"
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
    title: Json = _english(f"k-anonymous {evaluation.units}, k = {evaluation.k}")
    return {
        "@context": _CONTEXT,
        "@type": "dcat:Dataset",
        # Nobody knows in which language the publisher writes.
        "dct:title": words.title or title,
        "dct:description": _english(_description(evaluation)),
        **_publisher(words),
        "dct:issued": {"@value": evaluation.date.isoformat(), "@type": "xsd:date"},
        "dct:accrualPeriodicity": _id(f"{_EUROPE}frequency/NEVER"),
        "mobilitydcatap:mobilityTheme": _id(
            f"{_MOBILITY}mobility-theme/historic-travel-and-traffic-data-and-delays"
        ),
        "dct:spatial": {
            "@type": "dct:Location",
            "locn:geometry": {
                "@value": _polygon(*evaluation.area),
                "@type": "geosparql:wktLiteral",
            },
        },
        "dcat:distribution": _distribution(evaluation, released),
    }


def _description(evaluation: Evaluation) -> str:
    mean = "plain" if evaluation.report.width is None else "moved"
    rows = evaluation.rows
    return (
        f"{rows.sum():,} rows on {len(rows):,} lines, each the {mean} mean of the "
        f"{evaluation.units} of at least {evaluation.k} different {evaluation.counted}. "
        f"{evaluation.account['published']['cost']}"
    )


def _publisher(words: Publisher) -> dict[str, Json]:
    """Name the publisher; an agent needs a name."""
    if not words.name:
        return {}
    agent: dict[str, Json] = {"@type": "foaf:Agent", "foaf:name": words.name}
    if words.contact:
        is_email = words.contact_address.startswith("mailto:")
        contact = "foaf:mbox" if is_email else "foaf:workplaceHomepage"
        agent[contact] = _id(words.contact_address)
    return {"dct:publisher": agent}


def _polygon(west: float, south: float, east: float, north: float) -> str:
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    return f"POLYGON(({', '.join(f'{x} {y}' for x, y in corners)}))"


def _distribution(evaluation: Evaluation, released: Path) -> dict[str, Json]:
    """Describe the file, where it is, and who may do what with it."""
    words = evaluation.publisher
    file_type = _FILE_TYPES.get(released.suffix.lower(), "PARQUET")
    distribution: dict[str, Json] = {
        "@type": "dcat:Distribution",
        "dct:format": _id(f"{_EUROPE}file-type/{file_type}"),
        "mobilitydcatap:mobilityDataStandard": _id(f"{_MOBILITY}mobility-data-standard/other"),
    }
    if words.address:
        distribution["dcat:accessURL"] = _id(words.address)

    rights = words.licence
    licence = words.licence_address
    if evaluation.report.attribution == OSM_ATTRIBUTION:
        rights = OSM_ATTRIBUTION
        licence = Publisher(licence=OSM_LICENCE).licence_address
    if licence:
        distribution["dct:license"] = _id(licence)
    if rights:
        distribution["dct:rights"] = {
            "@type": "dct:RightsStatement",
            "dct:type": _id(f"{_MOBILITY}conditions-for-access-and-usage/other"),
            "rdfs:label": rights,
        }
    return distribution


def _id(address: str) -> dict[str, Json]:
    return {"@id": address}


def _english(text: str) -> dict[str, Json]:
    return {"@value": text, "@language": "en"}
