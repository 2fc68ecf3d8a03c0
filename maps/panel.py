"""The panel: what is said about a map in a corner of it, and what the mouse does."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import folium
import numpy as np
from branca.element import MacroElement
from jinja2 import Template
from numpy.typing import NDArray

_BARS = 10  # rows of the histogram; larger groups share the last one

_PANEL = """
{% macro header(this, kwargs) %}
<style>
  .folium-map.leaflet-container { background: #f4f1ea; }
  #trajanon {
    position: fixed; left: 10px; bottom: 50px; z-index: 1000; box-sizing: border-box;
    width: 272px; max-width: calc(100% - 20px); max-height: calc(100% - 145px);
    overflow-y: auto; border-radius: 6px; font: 13px/1.45 system-ui, sans-serif;
    color: #222; background: rgb(255 255 255 / 94%);
    box-shadow: 0 1px 6px rgb(0 0 0 / 35%);
  }
  #trajanon .notice {
    margin: 0; padding: 8px 12px; color: #5c3600; background: #ffe9c2; font-weight: 600;
  }
  #trajanon details { padding: 8px 12px; }
  #trajanon summary { cursor: pointer; }
  #trajanon summary b { font-size: 15px; }
  #trajanon table { width: 100%; margin: 6px 0 0; border-collapse: collapse; }
  #trajanon caption { caption-side: top; padding: 6px 0 2px; color: #666; }
  #trajanon th { padding: 1px 0; font-weight: 400; text-align: left; color: #555; }
  #trajanon td { padding: 1px 0; text-align: right; }
  #trajanon .sizes th { width: 1px; text-align: right; white-space: nowrap; }
  #trajanon .sizes .bar { width: 100%; padding: 0 8px; }
  #trajanon .sizes td { white-space: nowrap; }
  #trajanon .sizes i {
    display: block; height: 9px; min-width: 1px; background: #0072B2;
  }
  #trajanon .attribution {
    margin: 8px 0 0; font-size: 11px; color: #666; overflow-wrap: anywhere;
  }
</style>
{% endmacro %}

{% macro html(this, kwargs) %}
<aside id="trajanon">
  {% if this.notice %}<p class="notice">{{ this.notice }}</p>{% endif %}
  <details open>
    <summary><b>trajanon</b> · {{ this.headline }}</summary>
    <table class="facts">
      {% for name, value in this.facts %}
      <tr><th>{{ name }}</th><td>{{ value }}</td></tr>
      {% endfor %}
    </table>
    <table class="sizes">
      <caption>Trajectories in a group × groups</caption>
      {% for size, count, percent in this.bars %}
      <tr>
        <th>{{ size }}</th>
        <td class="bar"><i style="width: {{ percent }}%"></i></td>
        <td>× {{ count }}</td>
      </tr>
      {% endfor %}
    </table>
    {% if this.attribution %}
    <p class="attribution">{{ this.attribution }}</p>
    {% endif %}
  </details>
</aside>
{% endmacro %}

{% macro script(this, kwargs) %}
(function () {
  const map = {{ this._parent.get_name() }};
  const layers = [{{ this.layers | join(", ") }}];
  const panel = document.querySelector("#trajanon");
  const wide = window.innerWidth > 700;
  panel.querySelector("details").open = wide;
  map.fitBounds({{ this.bounds | tojson }}, {
    paddingTopLeft: wide ? [panel.offsetWidth + 20, 20] : [20, 90],
    paddingBottomRight: wide ? [20, 20] : [20, panel.offsetHeight + 50],
  });

  // From afar, lines of full width would hide each other.
  const width = () => Math.min(1, Math.max(0.55, 1 + 0.15 * (map.getZoom() - 15)));
  layers.forEach((layer) => {
    const near = layer.options.style;
    layer.options.style = (feature) => {
      const style = near(feature);
      return { ...style, weight: style.weight * width() };
    };
  });
  const draw = () => layers.forEach((layer) => layer.setStyle(layer.options.style));
  map.on("zoomend", draw);
  draw();

  // One line says little of its group: it stands out in every layer.
  const group = (event, change) => layers.forEach((layer) => layer.eachLayer((line) => {
    if (line.feature.id === event.propagatedFrom.feature.id) change(layer, line);
  }));
  layers.forEach((layer) => layer.on({
    mouseover: (event) => group(event, (_, line) => {
      line.setStyle({ weight: 1.7 * line.options.weight, opacity: 1 }).bringToFront();
    }),
    mouseout: (event) => group(event, (layer, line) => {
      layer.resetStyle(line);
      if (layer !== layers[layers.length - 1]) line.bringToBack();
    }),
  }));
  map.getRenderer(layers[0].getLayers()[0]).options.tolerance = 3;  // easier to hit
})();
{% endmacro %}
"""


class Panel(MacroElement):
    """What is said about the map, in a corner of it; and what the mouse does.

    Parameters
    ----------
    layers
        The layers on the map, the top one last.
    sizes
        Number of trajectories in each group.
    headline, facts
        A few words, and then names and values.
    notice
        Who may see the page; None if everybody may.
    attribution
        The line that must be shown with the data, if there is one.
    bounds
        South-west and north-east corners of what is shown, as lat, lon.
    """

    _template = Template(_PANEL)

    def __init__(
        self,
        layers: Sequence[folium.GeoJson],
        sizes: NDArray[np.int64],
        *,
        headline: str,
        facts: Mapping[str, str],
        notice: str | None,
        attribution: str | None,
        bounds: list[list[float]],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._name = "Panel"
        self.layers = [layer.get_name() for layer in layers]
        self.bars = list(_bars(sizes))
        self.headline = _text(headline)
        self.facts = [(_text(name), _text(value)) for name, value in facts.items()]
        self.notice = _text(notice or "")
        self.attribution = _text(attribution or "")
        self.bounds = bounds


def _text(data: str) -> str:
    """Make a text harmless in HTML, and to branca, which reads it as Jinja again."""
    return escape(data).replace("{", "&#123;")


def _bars(sizes: NDArray[np.int64]) -> Iterable[tuple[str, str, float]]:
    """Count the groups of each size: size, groups, percent of the longest bar."""
    counts = sorted(Counter(sizes.tolist()).items())
    rows = [(f"{size:,}", count) for size, count in counts]
    if len(rows) > _BARS:
        rest = sum(count for _, count in rows[_BARS - 1 :])
        rows = [*rows[: _BARS - 1], (f"{rows[_BARS - 1][0]} or more", rest)]
    longest = max(count for _, count in rows)
    for size, count in rows:
        yield size, f"{count:,}", round(100 * count / longest, 1)
