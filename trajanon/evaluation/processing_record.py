"""The record of processing: what data protection law asks of whoever publishes a release."""

import trajanon
from trajanon.common.number_text import roughly, two_digits
from trajanon.evaluation.evidence import NOTICE, Basis, Evaluation
from trajanon.evaluation.page.templates import rendered
from trajanon.evaluation.release_certificate import statement
from trajanon.release.people_left import few_left
from trajanon.release.release_words import cost, left_out


def processing_record(evaluation: Evaluation) -> str:
    """Write the record as a page of HTML, which prints on A4.

    It holds the facts that Articles 30 and 35 of the GDPR ask for, as far as the evaluation and the
    publisher's words give them, and marked blanks for all others. It is the holder's.
    """
    return rendered(
        "processing_record.html",
        notice=NOTICE,
        evaluation=evaluation,
        version=trajanon.__version__,
        bases=Basis,
        source=left_out(evaluation.report),
        cost=cost(evaluation.report),
        roughly=roughly,
        two_digits=two_digits,
        few_left=few_left,
        statement=statement,
    )
