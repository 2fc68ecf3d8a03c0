"""Information loss after each stage of an anonymisation."""

from trajanon.files.report import Report
from trajanon.maps.colours import PALETTE
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.style import ONE_COLUMN, panels
from trajanon.maps.telling import counted
from trajanon.words import percent

_BAR, _REST = 0.24, 0.55  # inches: of a stage, and of the axis


def stages(report: Report) -> Picture:
    """Draw a bar for each stage after which there were groups."""
    told = [
        (stage["name"], loss)
        for stage in report["stages"]
        if (loss := stage["information_loss"]) is not None
    ]
    names = [name for name, _ in told]
    losses = [loss for _, loss in told]
    figure, (ax,) = panels(1, 1, ONE_COLUMN, _REST + _BAR * len(told))
    bars = ax.barh(range(len(told)), losses, height=0.65, color=PALETTE[0])
    ax.bar_label(bars, [percent(loss / 100.0) for loss in losses], padding=2)
    ax.set_yticks(range(len(told)), names)
    ax.invert_yaxis()
    ax.margins(x=0.2)  # room for the numbers
    ax.yaxis.grid(visible=False)
    ax.set_xlabel("information loss, IL (%)")
    caption = (
        f"Information loss after each stage: {report['n']:,} trajectories, at least "
        f"{report['k']} {counted(report)} in each group."
    )
    if report.get("alignment") is not None:
        caption += (
            " That after alignment is measured on the windows as they slid on their "
            "tracks, the others on the windows as they were cut."
        )
    return Picture("stages", figure, caption)
