// The layers of a release: data from the page to lines of Leaflet.
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

  const kept = new Map();

  // What stands in the page under a name; each is read once.
  const read = (name) => {
    if (!kept.has(name)) {
      kept.set(name, JSON.parse(document.getElementById(`trajanon-${name}`).textContent));
    }
    return kept.get(name);
  };

  // The originals of a group that depart in hours wanted, its released line, if it does,
  // and the tracks they are on.
  const any = () => true;
  const of = ({ layers }, name) => (layers.includes(name) ? read(name) : []);
  const members = (release, group, wanted = any) => {
    if (!release.layers.includes("members")) return [];
    const all = of(release, "originals"), hours = of(release, "hours-originals");
    return of(release, "members")[group].filter((at) => wanted(hours[at])).map((at) => line(all[at]));
  };
  const centroid = (release, group, wanted = any) =>
    (wanted(release.groups.hour?.[group])
      ? line(of(release, release.ramp ? "cells" : "released")[group]) : []);
  const roads = () => read("roads").map(line);
  const runs = (group) => read("runs")[group].map((at) => line(read("tracks")[at]));

  // Many thin lines would hide the city: the more there are, the fainter each one.
  const faint = (count, most, least) =>
    Math.max(least, Math.min(most, most - 0.16 * Math.log10(Math.max(1, count / 300))));

  const each = ({ groups }, make) => groups.number.map((_, group) => ({ group, ...make(group) }));

  // How the lines of each layer look, and where there is one, their group.
  const lines = {
    originals: (release, palette, wanted) => each(release, (group) => ({
      shape: members(release, group, wanted),
      color: palette[release.groups.colour[group]], weight: 1.2,
      opacity: faint(release.total.originals, 0.45, 0.22),
    })),

    released: (release, palette, wanted) => each(release, (group) => ({
      shape: centroid(release, group, wanted),
      color: palette[release.groups.colour[group]], weight: release.groups.weight[group],
      opacity: faint(release.total.groups, 0.9, 0.65),
    })),

    cells: (release, palette) => each(release, (group) => ({
      shape: centroid(release, group), fill: true, fillOpacity: 0.75, stroke: false,
      fillColor: palette[release.groups.colour[group]],
    })),

    tracks: () => read("tracks").map((steps) => ({
      shape: line(steps), color: "#555", weight: 1, opacity: 0.45,
    })),

    // From each original to its group's line, at the start, the middle and the end.
    displacement: (release, palette, wanted) => each(release, (group) => {
      const to = centroid(release, group);
      const stops = [0, to.length >> 1, to.length - 1];
      return {
        shape: members(release, group, wanted).flatMap((from) => stops.map((at) => [from[at], to[at]])),
        color: palette[release.groups.colour[group]], weight: 1, opacity: 0.7,
      };
    }),

    worst: (release, palette, wanted) => release.worst.map((group) => ({
      group, shape: centroid(release, group, wanted), color: "#111", weight: 6, opacity: 0.9,
    })),
  };

  // The lines, if they depart in hours wanted, ready to be put on a map.
  const shapes = (name, release, palette, wanted = any, options) => {
    const drawn = lines[name](release, palette, wanted).filter(({ shape }) => shape.length);
    return drawn.map(({ group, shape, ...style }) => {
      const one = (style.fill ? L.polygon : L.polyline)(shape, { ...options, ...style });
      return Object.assign(one, { group, nearWeight: style.weight });
    });
  };

  return { read, members, centroid, roads, runs, shapes };
})();
