// Departures by hour: bars to look at, and to choose hours by.
"use strict";

const trajanonHours = (() => {
  const { node, number, count, heading } = trajanonPanel;
  const HOURS = 24, DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

  // Which hours of the day, and days of the week, are chosen: all, if none is. A slot is an
  // hour of the day, or from Monday on of the week.
  const choice = () => {
    const hours = new Set(), days = new Set();
    const among = (chosen, each) => chosen.size === 0 || chosen.has(each);
    return {
      hours, days,
      any: () => hours.size + days.size > 0,
      has: (slot) => among(hours, slot % HOURS) && among(days, Math.floor(slot / HOURS)),
      onDay: (slot) => among(days, Math.floor(slot / HOURS)),
    };
  };

  const sum = (counts, has) =>
    counts.reduce((all, counted, slot) => all + (has(slot) ? counted : 0), 0);

  const clock = (hour) => `${String(hour).padStart(2, "0")}:00`;

  // A button for each hour and day; ``change`` is called when others are chosen.
  const bars = ({ departures, units, noun }, chosen, change) => {
    const weekly = departures.released.length > HOURS;
    if (!weekly) chosen.days.clear();
    const kinds = ["originals", "released"].filter((kind) => departures[kind]);
    const said = node("p", { role: "status" });
    const unit = node("p", { className: "unit" });

    const button = (act, ...inside) => {
      const made = node("button", { type: "button" }, ...inside);
      made.addEventListener("click", () => {
        act();
        update();
        change();
      });
      return made;
    };
    const flip = (set, value) => () => set.delete(value) || set.add(value);
    const hours = Array.from({ length: HOURS }, (_, hour) => button(flip(chosen.hours, hour),
      node("span", {}, ...kinds.map((kind) => node("i", { className: kind }))),
      node("b", {}, hour % 3 ? "" : String(hour))));
    const days = weekly ? DAYS.map((name, day) => button(flip(chosen.days, day), name)) : [];
    const every = button(() => [chosen.hours, chosen.days].forEach((set) => set.clear()), "All hours");

    // Beside originals, a line counts for those of its group; in a release alone, for its rows.
    const what = departures.originals
      ? { originals: `${units} as recorded`, released: "as released" } : { released: units };
    const names = { originals: "as recorded", released: "as released" };
    const told = (counted) => kinds.map((kind) => `${number(counted(kind))} ${what[kind]}`).join(", ");

    const update = () => {
      const counts = hours.map((_, hour) => Object.fromEntries(kinds.map((kind) => [kind,
        sum(departures[kind], (slot) => slot % HOURS === hour && chosen.onDay(slot))])));
      const most = Math.max(1, ...counts.flatMap(Object.values));
      unit.textContent = `Highest bar: ${number(most)} ${units} in an hour`;
      hours.forEach((made, hour) => {
        made.ariaPressed = chosen.hours.has(hour);
        made.title = `${clock(hour)}–${clock(hour + 1)}: ${told((kind) => counts[hour][kind])}`;
        made.ariaLabel = made.title;
        made.querySelectorAll("i").forEach((bar) => {
          bar.style.height = `${(100 * counts[hour][bar.className]) / most}%`;
        });
      });
      days.forEach((made, day) => { made.ariaPressed = chosen.days.has(day); });
      every.disabled = !chosen.any();
      const depart = told((kind) => sum(departures[kind], chosen.has));
      const lines = count(sum(departures.groups, chosen.has), noun);
      said.textContent = `${chosen.any() ? "Hours chosen" : "All hours"}: ${depart}, ${lines}.`;
    };
    update();
    return node("fieldset", { className: "hours" },
      node("legend", {}, heading("Departures by hour")),
      node("div", { className: "week" }, ...days),
      unit, node("div", { className: "day" }, ...hours),
      node("p", { className: "key" },
        ...kinds.flatMap((kind) => [node("i", { className: kind }), names[kind]]), every),
      said, node("p", {}, "Choose hours to see only the lines that depart in them. ", departures.clock));
  };

  return { choice, sum, bars };
})();
