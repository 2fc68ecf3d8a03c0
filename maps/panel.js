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

  const histogram = (rows, title) => {
    const most = Math.max(...rows.map(([, count]) => count));
    const built = node("table", { className: "bars" }, caption(title));
    rows.forEach(([label, count]) => {
      const bar = node("i", { hidden: count === 0 });
      bar.style.width = `${(100 * count) / most}%`;
      built.append(node("tr", {}, header(label),
        node("td", { className: "bar", ariaHidden: true }, bar), node("td", {}, number(count))));
    });
    return built;
  };

  const about = (release, at) => {
    const { groups, units } = release;
    const when = groups.when ? ` · ${groups.when[at]}` : "";
    const said = `Group ${groups.number[at]} · ${number(groups.size[at])} ${units}${when}`;
    return groups.moved ? `${said} · mean displacement ${metres(groups.moved[at])}` : said;
  };

  // How many points a shade of the hexagons stands for; both densities have one scale.
  const scale = ({ most, metres: wide }) => {
    const marks = new Set([1, Math.round(Math.sqrt(most)), most]);
    return node("div", { className: "scale" }, node("i"),
      node("p", {}, ...[...marks].map((mark) => node("span", {}, number(mark)))),
      `points in a hexagon ${metres(wide)} across`);
  };

  // Each layer is a line of the legend, with a sample of how it is drawn.
  const legend = (layers, toggle, densest) => {
    const shades = scale(densest);
    const shade = () =>
      shades.hidden = !layers.some(({ name, on }) => on && name.startsWith("density"));
    shade();
    return node("fieldset", { className: "layers" },
      node("legend", {}, heading("Layers")),
      ...layers.map((layer) => {
        const box = node("input", { type: "checkbox", checked: layer.on, name: layer.name });
        box.addEventListener("change", () => {
          toggle(layer, box.checked);
          shade();
        });
        layer.words = node("span", {}, layer.label);
        return node("label", {}, box, node("i", { className: `sample ${layer.name}` }), layer.words);
      }), shades,
      node("p", {}, "Each group has one colour; neighbouring groups differ."));
  };

  const search = (last, find, said) => {
    const input = node("input", {
      type: "number", min: 0, step: 1, name: "group", placeholder: `0 to ${last}`, required: true,
    });
    const form = node("form", { className: "search" },
      node("label", {}, "Group ", input), node("button", {}, "Show"), said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      find(Number(input.value));
    });
    return form;
  };

  const releases = (all, current, choose) => {
    const built = node("table", { className: "releases" },
      caption(`Releases of the same ${all[current].units}`),
      node("tr", {}, node("td"), ...["IL", "mean displ."].map((name) =>
        node("th", { scope: "col" }, name))));
    all.forEach((release, at) => {
      const radio = node("input", { type: "radio", name: "release", checked: at === current });
      radio.addEventListener("change", () => choose(at));
      built.append(node("tr", {}, header(node("label", { title: release.name },
        radio, node("span", {}, release.name))),
        ...release.summary.map((value) => node("td", {}, value))));
    });
    return built;
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

  const glossary = (terms) => node("dl", {}, ...terms.flatMap(([term, meaning]) =>
    [node("dt", {}, term), node("dd", {}, meaning)]));

  // All that is said of one release; ``acts`` are what the page does when asked.
  const fill = (body, page, current, layers, acts) => {
    const release = page.releases[current];
    const { counts } = release;
    body.replaceChildren();
    if (page.releases.length > 1) body.append(releases(page.releases, current, acts.choose));
    body.append(...release.sentences.map((text) => node("p", { className: "sentence" }, text)));
    // Above the legend, whose lines grow with the hours chosen: bars stay under the mouse.
    body.append(acts.bars, legend(layers, acts.toggle, acts.densest));
    if (release.drawn) body.append(node("p", { className: "drawn" }, release.drawn));
    const last = release.total.groups - 1;
    body.append(search(last, acts.find, acts.said), table(release.facts, "The release"));
    if (counts.displacement) {
      body.append(histogram(counts.displacement, "Groups by mean displacement"));
    }
    const sizes = histogram(counts.sizes, `Groups by number of ${release.units}`);
    if (release.worst.length) body.append(worst(release, acts.show));
    body.append(Object.assign(folded("Sizes", sizes), { open: !counts.displacement }));
    if (release.stages.length) body.append(folded("Search", table(release.stages, release.lost)));
    if (release.glossary.length) {
      body.append(folded("What the words mean", glossary(release.glossary)));
    }
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
