// The panel: what is said of a release beside the map, and what can be asked of it.
"use strict";

const trajanonPanel = (() => {
  // Text enters as text: whatever a file is called, it never becomes markup.
  const node = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const number = (value) => value.toLocaleString("en");
  const count = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
  const metres = (value) => {
    if (value >= 9999.5) return `${(value / 1000).toFixed(1)} km`;
    return `${value >= 9.95 ? number(Math.round(value)) : value.toFixed(1)} m`;
  };

  const heading = (text) => node("h2", {}, text);
  const caption = (text) => node("caption", {}, heading(text));
  const header = (text) => node("th", { scope: "row" }, text);

  const table = (rows, title) => {
    const built = node("table", {}, caption(title));
    rows.forEach(([name, value]) =>
      built.append(node("tr", {}, header(name), node("td", {}, value))));
    return built;
  };

  const capital = (word) => word[0].toUpperCase() + word.slice(1);

  const about = (release, at) => {
    const { groups, noun, units } = release;
    const when = groups.when ? ` · ${groups.when[at]}` : "";
    const said = `${capital(noun)} ${groups.number[at]} · ${number(groups.size[at])} ${units}${when}`;
    if (!groups.moved) return said;
    const far = groups.outside[at] > release.far
      ? ` · its line lies up to ${metres(groups.outside[at])} outside the box of its originals` : "";
    return `${said} · mean displacement ${metres(groups.moved[at])}${far}`;
  };

  // Each layer is a line of the legend, with a sample of how it is drawn.
  const ramp = ({ ramp: bounds, palette, units }) => node("p", { className: "ramp" },
    `${capital(units)}, at least:`, ...bounds.map((least, at) => {
      const colour = node("i");
      colour.style.background = palette[at];
      return node("span", {}, colour, least);
    }));

  const legend = (layers, toggle) =>
    node("fieldset", { className: "layers" },
      node("legend", {}, heading("Layers")),
      ...layers.map((layer) => {
        const box = node("input", { type: "checkbox", checked: layer.on, name: layer.name });
        box.addEventListener("change", () => toggle(layer, box.checked));
        layer.words = node("span", {}, layer.label);
        return node("label", {}, box, node("i", { className: `sample ${layer.name}` }), layer.words);
      }));

  const search = (noun, last, find, said) => {
    const input = node("input", {
      type: "number", min: 0, step: 1, name: "group", placeholder: `0 to ${last}`, required: true,
    });
    const form = node("form", { className: "search" },
      node("label", {}, `${capital(noun)} `, input), node("button", {}, "Show"), said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      find(Number(input.value));
    });
    return form;
  };

  const worst = (release, show) => {
    const list = node("ol", { className: "worst" });
    release.worst.forEach((at) => {
      const said = `Group ${release.groups.number[at]} · ${metres(release.groups.moved[at])}`;
      const button = node("button", { type: "button" }, said);
      button.addEventListener("click", () => show(at));
      list.append(node("li", {}, button));
    });
    return folded("Worst groups, by mean displacement", list);
  };

  const folded = (title, ...inside) =>
    node("details", {}, node("summary", {}, heading(title)), ...inside);

  // All that is said of the release; ``acts`` are what the page does when asked.
  const fill = (body, page, layers, acts) => {
    body.append(node("p", { className: "reading" }, page.reading));
    body.append(...page.sentences.map((text) => node("p", { className: "sentence" }, text)));
    // Above the legend, whose lines grow with the hours chosen: bars stay under the mouse.
    body.append(acts.bars, legend(layers, acts.toggle));
    if (page.ramp) body.append(ramp(page));
    if (page.drawn) body.append(node("p", { className: "drawn" }, page.drawn));
    const last = page.total.groups - 1;
    body.append(search(page.noun, last, acts.find, acts.said), table(page.facts, "The release"));
    if (page.worst.length) body.append(worst(page, acts.show));
  };

  const frame = (page) => {
    const headline = node("span");
    const body = node("div", { className: "body" });
    const details = node("details", { className: "all" },
      node("summary", {}, node("h1", {}, node("b", {}, "trajanon"), " · ", headline)), body);
    const panel = node("aside", { id: "trajanon", ariaLabel: "About the release" });
    if (page.notice) panel.append(node("p", { className: "notice" }, page.notice));
    panel.append(details);
    return { panel, details, headline, body };
  };

  return { node, number, count, heading, about, fill, frame };
})();
