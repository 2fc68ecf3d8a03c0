// The page: one map or two, their layers, and the group that stands out.
"use strict";

const trajanonPage = (map) => {
  const { node, number, about, fill, frame } = trajanonPanel;
  const page = trajanonLayers.read("page");
  const beside = page.view === "side-by-side";
  const narrow = window.matchMedia("(max-width: 700px)").matches;
  const alone = page.view === "public"; // the release, without its originals

  // The frame: the panel beside the maps, so that it hides nothing of the city.

  const { panel, details, headline, body } = frame(page);
  const maps = node("main", { className: page.view, ariaLabel: "Map" });
  const first = map.getContainer();
  first.before(panel, maps);
  maps.append(first);
  details.open = !narrow;
  document.querySelector("meta[name=viewport]").content = "width=device-width, initial-scale=1";

  const twin = () => {
    const container = node("div", { className: "folium-map" });
    maps.append(container);
    const other = L.map(container, { ...map.options, zoomControl: false });
    map.eachLayer((layer) => {
      if (layer instanceof L.TileLayer) L.tileLayer(layer._url, layer.options).addTo(other);
    });
    let following = false;
    const follow = (one, two) => one.on("move", () => {
      if (following) return;
      following = true;
      two.setView(one.getCenter(), one.getZoom(), { animate: false });
      following = false;
    });
    follow(map, other);
    follow(other, map);
    return other;
  };
  const right = beside ? twin() : map;
  const both = beside ? [map, right] : [map];
  const label = (on, text) => Object.assign(on.getContainer(), {
    role: "region", ariaLabel: `Map of ${text}: arrow keys move it, plus and minus zoom`,
  });
  if (beside) {
    label(map, "originals").append(node("b", { className: "side" }, "originals"));
    label(right, "the release").append(node("b", { className: "side" }, "release"));
  } else label(map, alone ? "the release" : "originals and release");

  // Where the map is, although it may have no street map: north, the place, and main roads.
  const compass = L.control({ position: "topright" });
  compass.onAdd = () => node("div", { className: "compass" },
    node("b", { ariaLabel: "North is up" }, "N", node("i", { ariaHidden: true })), page.place);
  compass.addTo(right);
  const roads = trajanonLayers.roads();
  if (roads.length) both.forEach((each) => {
    each.createPane("roads").style.zIndex = 405;
    const renderer = trajanonCanvas.quick({ pane: "roads", padding: 0.25 });
    L.polyline(roads, {
      pane: "roads", renderer, interactive: false, color: "#8d8d86", weight: 1, opacity: 0.8,
    }).addTo(each);
  });
  L.control.scale({ imperial: false }).addTo(map);
  const leaflet = '<a href="https://leafletjs.com">Leaflet</a>';
  const credits = L.control.attribution({ prefix: leaflet }).addTo(right);
  if (page.attribution) credits.addAttribution(node("i", {}, page.attribution).innerHTML);
  if (document.fullscreenEnabled) {
    const button = L.control({ position: "topleft" });
    button.onAdd = () => {
      const link = node("a",
        { href: "#", title: "Full screen", ariaLabel: "Full screen", role: "button" }, node("i"));
      const bar = node("div", { className: "leaflet-bar leaflet-control full" }, link);
      L.DomEvent.disableClickPropagation(bar);
      L.DomEvent.on(link, "click", (event) => {
        L.DomEvent.preventDefault(event);
        if (document.fullscreenElement) document.exitFullscreen();
        else document.documentElement.requestFullscreen();
      });
      return bar;
    };
    button.addTo(map);
  }

  // Layers. Each has a canvas of its own, and what stands out one above all.

  const hours = trajanonHours.choice();
  const wanted = () => (page.departures && hours.any() ? hours.has : undefined);
  const named = () => {
    const { total, slid, departures, groups, worst } = page, has = wanted();
    // Of so many, those that depart in the hours chosen; tracks know no hours.
    const some = (all, part) => (has ? `${number(part())} of ${number(all)}` : number(all));
    const depart = (name) => () => trajanonHours.sum(departures[name] ?? [], has);
    const originals = some(total.originals ?? 0, depart("originals"));
    const released = some(total.groups, depart("groups"));
    const costly = some(worst.length, () => worst.filter((at) => has(groups.hour[at])).length);
    return [
      {
        name: "originals", side: map, height: 413, on: true,
        label: `Originals (${originals}), thin`,
      },
      {
        name: "released", side: right, height: 416, on: true,
        label: alone ? `Lines (${released})`
          : `Released (${released} ${total.groups === 1 ? "group" : "groups"}), thick`,
      },
      {
        name: "tracks", side: map, height: 412, hidden: !slid,
        label: `Recorded tracks${has ? ", all hours" : ""}`,
      },
      { name: "cells", side: right, height: 416, on: true, label: `Cells (${released})`, hidden: !page.ramp },
      { name: "displacement", side: right, height: 414, label: "Displacement: start, middle, end" },
      { name: "worst", side: right, height: 415, label: `Worst groups (${costly})` },
    ].filter(({ name, hidden }) => !hidden
      && (!alone || name === (page.ramp ? "cells" : "released")));
  };

  const canvas = (on, name, height) => {
    const pane = on.getPane(name) ?? on.createPane(name);
    const lit = name === "lit"; // a few lines, at once
    pane.classList.add(lit ? "trajanon-lit" : "trajanon-layer");
    pane.style.zIndex = height;
    const renderer = trajanonCanvas[lit ? "quick" : "patient"]({ pane: name, padding: 0.25 });
    return { pane: name, renderer, interactive: false };
  };

  // From afar, lines of full width would hide each other. The option is set, not the
  // style: when a zoom ends Leaflet draws all lines anyway, and need not do so twice.
  const least = () =>
    Math.max(0.3, Math.min(0.55, 0.55 - 0.2 * Math.log10(page.total.groups / 150)));
  const width = () => Math.min(1, Math.max(least(), 1 + 0.15 * (map.getZoom() - 15)));
  const thin = (line) => line.nearWeight && L.setOptions(line, { weight: line.nearWeight * width() });

  const shown = new Map(); // layers by name, of the release that is looked at
  const { palette } = page;
  const lines = (name) => shown.get(name)?.getLayers() ?? [];

  const show = ({ name, side, height }) => {
    const options = canvas(side, name, height);
    const shapes = trajanonLayers.shapes(name, page, palette, wanted(), options);
    shapes.forEach(thin);
    shown.set(name, L.layerGroup(shapes).addTo(side));
    shown.get(name).renderer = options.renderer;
  };
  const hide = ({ name, side }) => {
    side.removeLayer(shown.get(name)).removeLayer(shown.get(name).renderer);
    shown.delete(name);
  };
  let layers = [];
  const toggle = (layer, on) => {
    layer.on = on;
    if (on === shown.has(layer.name)) return;
    if (on) show(layer);
    else hide(layer);
  };
  both.forEach((each) => each.on("zoomend", () =>
    layers.filter(({ side }) => side === each).forEach(({ name }) => lines(name).forEach(thin))));

  // The group under the mouse stands out on both sides; a click keeps it there.

  const lit = both.map((each) =>
    ({ options: canvas(each, "lit", 460), layer: L.layerGroup().addTo(each) }));
  const EDGE = 4, AWAY = 14, BUTTONS = { x: 50, y: 150 }; // pixels
  const AROUND = [[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [-1, -1], [1, 1], [-1, 1]];
  const LET_GO = "Escape, or a click elsewhere, deselects it.";
  const tip = L.tooltip({ direction: "center", opacity: 1 });
  const said = node("output");
  let chosen = null, kept = false;

  const light = () => {
    const { groups } = page;
    const color = page.ramp ? "#222" : palette[groups.colour[chosen]], weight = groups.weight[chosen];
    const originals = trajanonLayers.members(page, chosen);
    const centroid = trajanonLayers.centroid(page, chosen);
    lit.forEach(({ options, layer }) => {
      layer.clearLayers();
      const add = (shape, style) => layer.addLayer(L.polyline(shape, { ...options, color, ...style }));
      if (shown.has("tracks")) {
        add(trajanonLayers.runs(chosen), { color: "#555", weight: 2, dashArray: "1 5" });
      }
      if (originals.length) {
        add(originals, { color: "#fff", weight: 4, opacity: 0.7 });
        add(originals, { weight: 1.6 });
      }
      add(centroid, { color: "#fff", weight: weight + 4, opacity: 0.8 });
      add(centroid, { weight: weight + 1.5 });
    });
  };

  const choose = (group, keep = false) => {
    kept = keep && group !== null;
    if (group !== chosen) {
      chosen = group;
      maps.classList.toggle("lit", group !== null);
      if (group === null) lit.forEach(({ layer }) => layer.clearLayers());
      else light();
    }
    if (group === null) tip.remove();
    said.textContent = kept ? `${about(page, group)}. ${LET_GO}` : "";
  };

  const REACH = 8; // pixels around the mouse
  const near = (on, latlng) => {
    const point = on.latLngToLayerPoint(latlng);
    const box = L.latLngBounds([[-REACH, -REACH], [REACH, REACH]].map((away) =>
      on.layerPointToLatLng(point.add(away))));
    for (const name of ["cells", "released", "originals"]) {
      if (layers.find((layer) => layer.name === name)?.side !== on) continue;
      if (shown.get(name)?.renderer.moved) continue; // lines are where they were
      let best = REACH, group = null;
      lines(name).forEach((line) => {
        if (!line.getBounds().intersects(box)) return;
        if (line.options.fill && line._containsPoint(point)) [best, group] = [0, line.group];
        const found = line.closestLayerPoint(point);
        if (found && found.distance < best) [best, group] = [found.distance, line.group];
      });
      if (group !== null) return group;
    }
    return null;
  };

  // How much of the chosen group a box would hide: of its released line above all.
  const hidden = (on, box) => {
    let sum = 0;
    lit[both.indexOf(on)].layer.eachLayer(({ _parts, options }) => _parts.forEach((part) => {
      for (let at = 1; at < part.length; at += 1) {
        if (L.LineUtil.clipSegment(part[at - 1], part[at], box)) sum += options.weight ** 2;
      }
    }));
    return sum;
  };

  // Beside the place, where the tip hides least of its group; never over edge or buttons.
  const say = (on, latlng) => {
    if (chosen === null) return;
    const words = node("span", {}, about(page, chosen));
    if (kept) words.append(node("small", {}, LET_GO));
    tip.setContent(words).setLatLng(latlng).addTo(on);
    const { x, y } = on.latLngToContainerPoint(latlng), { x: right, y: bottom } = on.getSize();
    const place = on.latLngToLayerPoint(latlng);
    const half = L.point(tip.getElement().offsetWidth, tip.getElement().offsetHeight).divideBy(2);
    const places = [AWAY, 4 * AWAY, 10 * AWAY].flatMap((far) => AROUND.map(([over, down]) =>
      [x + over * (half.x + far), y + down * (half.y + far)]));
    let best = Infinity;
    for (const [over, down] of places) {
      const below = Math.min(bottom - half.y - EDGE, Math.max(half.y + EDGE, down)) - y;
      const least = half.x + (y + below - half.y < BUTTONS.y ? BUTTONS.x : EDGE);
      const beside = Math.min(right - half.x - EDGE, Math.max(least, over)) - x;
      const middle = place.add([beside, below]);
      const cost = hidden(on, L.bounds(middle.subtract(half), middle.add(half)));
      if (cost < best) [best, tip.options.offset] = [cost, [beside, below]];
      if (best === 0) break;
    }
    tip.update();
  };
  both.forEach((each) => {
    let waiting = null;
    each.on("mousemove", ({ latlng }) => {
      if (kept) return;
      if (waiting === null) requestAnimationFrame(() => {
        const at = waiting;
        waiting = null;
        if (kept) return;
        choose(near(each, at));
        say(each, at);
      });
      waiting = latlng;
    });
    each.on("mouseout", () => { if (!kept) choose(null); });
    each.on("moveend", () => { if (kept && tip._map === each) say(each, tip.getLatLng()); });
    each.on("click", ({ latlng }) => {
      choose(near(each, latlng), true);
      say(each, latlng);
    });
  });
  addEventListener("keydown", ({ key }) => { if (key === "Escape") choose(null); });

  const visit = (group) => {
    choose(group, true);
    const shapes = [trajanonLayers.centroid(page, group), ...trajanonLayers.members(page, group)];
    const all = L.latLngBounds(shapes.flat());
    map.once("moveend", () => {
      if (chosen === group) say(right, L.latLng(all.getNorth(), all.getCenter().lng));
    });
    map.fitBounds(all, { padding: [50, 50], maxZoom: 17 }); // room for buttons and tip
  };
  const find = (wanted) => {
    const { groups, total } = page;
    const group = groups.number.indexOf(wanted);
    if (group >= 0) return visit(group);
    choose(null);
    said.textContent = wanted < total.groups
      ? `Not among those drawn: ${page.noun} ${number(wanted)}.`
      : `There is no ${page.noun} ${number(wanted)}: the last is ${number(total.groups - 1)}.`;
  };

  const open = () => {
    const bars = page.departures ? trajanonHours.bars(page, hours, redraw) : "";
    layers = named();
    headline.textContent = page.headline;
    fill(body, page, layers, { toggle, find, show: visit, said, bars });
    layers.filter((layer) => layer.on).forEach((layer) => toggle(layer, true));
  };

  // Other hours: other lines, and what the legend says of them.
  const redraw = () => {
    choose(null);
    named().forEach(({ label }, at) => { layers[at].words.textContent = label; });
    layers.filter((layer) => layer.on).forEach((layer) => {
      toggle(layer, false);
      toggle(layer, true);
    });
  };

  new ResizeObserver(() => both.forEach((each) => each.invalidateSize({ animate: false }))).observe(maps);
  both.forEach((each) => each.invalidateSize());
  both.forEach((each) => each.fitBounds(page.bounds, { padding: [20, 20], maxZoom: 17, animate: false }));
  open();
  window.trajanon = { maps: both, shown, lit, drawn: trajanonCanvas.drawn };
};
