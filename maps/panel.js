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
  const metres = (value) => `${value >= 9.95 ? number(Math.round(value)) : value.toFixed(1)} m`;

  const table = (rows, caption) => {
    const built = node("table");
    if (caption) built.append(node("caption", {}, caption));
    rows.forEach(([name, value]) =>
      built.append(node("tr", {}, node("th", {}, name), node("td", {}, value))));
    return built;
  };

  const histogram = (rows, caption) => {
    const most = Math.max(...rows.map(([, count]) => count));
    const built = node("table", { className: "bars" }, node("caption", {}, caption));
    rows.forEach(([label, count]) => {
      const bar = node("i", { hidden: count === 0 });
      bar.style.width = `${(100 * count) / most}%`;
      built.append(node("tr", {}, node("th", {}, label),
        node("td", { className: "bar" }, bar), node("td", {}, number(count))));
    });
    return built;
  };

  const about = (release, at) => {
    const { groups } = release;
    const said = `group ${groups.number[at]} · ${number(groups.size[at])} trajectories`;
    return groups.moved ? `${said} · mean displacement ${metres(groups.moved[at])}` : said;
  };

  // Each layer is a line of the legend, with a sample of how it is drawn.
  const legend = (layers, toggle) => node("fieldset", { className: "layers" },
    node("legend", {}, "Layers"),
    ...layers.map((layer) => {
      const box = node("input", { type: "checkbox", checked: layer.on, name: layer.name });
      box.addEventListener("change", () => toggle(layer, box.checked));
      return node("label", {}, box, node("i", { className: `sample ${layer.name}` }),
        node("span", {}, layer.label));
    }));

  const search = (find) => {
    const input = node("input", {
      type: "number", min: 0, step: 1, name: "group", placeholder: "number", required: true,
    });
    const answer = node("output", {});
    const form = node("form", { className: "search" },
      node("label", {}, "Group ", input), node("button", {}, "Show"), answer);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer.textContent = find(Number(input.value)) ?? "";
    });
    return form;
  };

  const releases = (all, current, choose) => {
    const built = node("table", { className: "releases" },
      node("caption", {}, "Releases of the same trajectories"),
      node("tr", {}, node("th"), node("td", {}, "IL"), node("td", {}, "mean displ.")));
    all.forEach((release, at) => {
      const radio = node("input", { type: "radio", name: "release", checked: at === current });
      radio.addEventListener("change", () => choose(at));
      built.append(node("tr", {}, node("th", {}, node("label", { title: release.name },
        radio, node("span", {}, release.name))),
        ...release.summary.map((value) => node("td", {}, value))));
    });
    return built;
  };

  const worst = (release, show) => {
    const list = node("ol", { className: "worst" });
    release.worst.forEach((at) => {
      const said = `group ${release.groups.number[at]} · ${metres(release.groups.moved[at])}`;
      const button = node("button", { type: "button" }, said);
      button.addEventListener("click", () => show(at));
      list.append(node("li", {}, button));
    });
    return node("details", {}, node("summary", {}, "Worst groups, by mean displacement"), list);
  };

  // All that is said of one release; ``acts`` are what the page does when asked.
  const fill = (body, page, current, layers, acts) => {
    const release = page.releases[current];
    const { counts } = release;
    body.replaceChildren();
    if (page.releases.length > 1) body.append(releases(page.releases, current, acts.choose));
    body.append(legend(layers, acts.toggle));
    if (release.drawn) body.append(node("p", { className: "drawn" }, release.drawn));
    body.append(search(acts.find), table(release.facts));
    if (release.stages.length) body.append(table(release.stages, "Information loss after"));
    if (counts.displacement) {
      body.append(histogram(counts.displacement, "Groups by mean displacement"));
    }
    const sizes = histogram(counts.sizes, "Groups by number of trajectories");
    if (release.worst.length) body.append(worst(release, acts.show));
    body.append(node("details", { open: !counts.displacement },
      node("summary", {}, "Sizes"), sizes));
  };

  const frame = (page) => {
    const headline = node("span");
    const body = node("div", { className: "body" });
    const details = node("details", { className: "all" },
      node("summary", {}, node("b", {}, "trajanon"), " · ", headline), body);
    const panel = node("aside", { id: "trajanon" });
    if (page.notice) panel.append(node("p", { className: "notice" }, page.notice));
    panel.append(details);
    return { panel, details, headline, body };
  };

  return { node, number, count, about, fill, frame };
})();
