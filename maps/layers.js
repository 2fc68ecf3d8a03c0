// The layers of a release: data from the page to lines and cells of Leaflet.
"use strict";

const trajanonLayers = (() => {
  const UNIT = 1e6; // parts of a degree

  const line = (steps) => {
    const places = [];
    let lat = 0, lon = 0;
    for (let at = 0; at < steps.length; at += 2) {
      lat += steps[at];
      lon += steps[at + 1];
      places.push([lat / UNIT, lon / UNIT]);
    }
    return places;
  };

  const read = (name) => {
    const element = document.getElementById(`trajanon-${name}`);
    return element && JSON.parse(element.textContent);
  };

  const kept = new Map();

  // A layer of a release; the data of each is read once.
  const cached = (number, name) => {
    const key = `${number}-${name}`;
    if (!kept.has(key)) kept.set(key, read(key));
    return kept.get(key);
  };

  // Many thin lines would hide the city: the more there are, the fainter each one.
  const faint = (count, most, least) =>
    Math.max(least, Math.min(most, most - 0.16 * Math.log10(Math.max(1, count / 300))));

  const of = {
    originals: (data, { groups, palette, count }) => data.map((lines, at) => ({
      group: at,
      shape: lines.map(line),
      style: { color: palette[groups.colour[at]], weight: 1.2, opacity: faint(count, 0.6, 0.3) },
    })),

    released: (data, { groups, palette }) => data.map((lines, at) => ({
      group: at,
      shape: lines.map(line),
      style: {
        color: palette[groups.colour[at]], weight: groups.weight[at],
        opacity: faint(data.length, 0.9, 0.65),
      },
    })),

    tracks: (data) => data.lines.map((steps) => ({
      shape: line(steps), style: { color: "#555", weight: 1, opacity: 0.45 },
    })),

    outliers: (data) => data.lines.map((steps, at) => ({
      group: data.group[at], shape: line(steps),
      style: { color: "#111", weight: 2, opacity: 0.9, dashArray: "6 4" },
    })),

    worst: (data, { worst }) => worst.map((at) => ({
      group: at, shape: data[at].map(line), style: { color: "#111", weight: 5, opacity: 0.9 },
    })),

    // From each original to its group's line, at the start, the middle and the end.
    displacement: (data, { originals, groups, palette }) => data.map((lines, at) => {
      const to = line(lines[0]);
      const stops = [0, to.length >> 1, to.length - 1];
      return {
        group: at,
        shape: originals[at].map(line).flatMap((from) => stops.map((p) => [from[p], to[p]])),
        style: { color: palette[groups.colour[at]], weight: 1, opacity: 0.7 },
      };
    }),
  };

  const cells = ({ radius, cells }, options) => {
    const [up, right] = radius.map((degrees) => degrees / UNIT);
    const side = (right * Math.sqrt(3)) / 2;
    const corners = [[up, 0], [up / 2, side], [-up / 2, side], [-up, 0], [-up / 2, -side], [up / 2, -side]];
    let most = 1;
    for (let at = 2; at < cells.length; at += 3) most = Math.max(most, cells[at]);
    const drawn = [];
    for (let at = 0; at < cells.length; at += 3) {
      const [lat, lon] = [cells[at] / UNIT, cells[at + 1] / UNIT];
      const depth = most === 1 ? 1 : Math.log(cells[at + 2]) / Math.log(most);
      drawn.push(L.polygon(corners.map(([north, east]) => [lat + north, lon + east]), {
        ...options, stroke: false, fillColor: "#332288", fillOpacity: 0.1 + 0.65 * depth,
      }));
    }
    return drawn;
  };

  // The lines or cells of a layer, each line with its group where it has one.
  const shapes = (name, number, about, options) => {
    const source = { displacement: "released", worst: "released" }[name] ?? name;
    const data = cached(number, source);
    if (name.startsWith("density")) return cells(data, options);
    const context = { ...about, originals: cached(number, "originals") };
    return of[name](data, context).map(({ group, shape, style }) => {
      const drawn = L.polyline(shape, { ...options, ...style });
      drawn.group = group;
      drawn.nearWeight = style.weight;
      return drawn;
    });
  };

  const background = (options) => {
    const { roads, water } = read("background");
    return [
      L.polyline(water.map(line), { ...options, color: "#8fb8de", weight: 1.5, opacity: 0.9 }),
      L.polyline(roads.map(line), { ...options, color: "#c9c2b4", weight: 1, opacity: 0.9 }),
    ];
  };

  return { read, cached, line, shapes, background };
})();
