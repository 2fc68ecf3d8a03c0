// A canvas that is drawn some lines a frame, so that the page never stands still.
"use strict";

const trajanonCanvas = (() => {
  const BUDGET = 12; // milliseconds of a frame
  const AT_ONCE = 50; // lines between two looks at the clock
  const LEAST = 4; // pixels of a line; one of more points is longer
  const DOT = [[-1.5, 0], [0, 1.5], [1.5, 0], [0, -1.5], [-1.5, 0]];

  // The next picture of a canvas grows out of sight, and the one before stays until it
  // is whole. One after the other, so that they can share the sheet.
  const sheet = document.createElement("canvas");
  const pen = sheet.getContext("2d", { willReadFrequently: true });
  const waiting = [], finished = [];
  let working = false;

  const work = () => {
    const end = performance.now() + BUDGET;
    do {
      if (waiting[0]?.drawSome()) waiting.shift();
    } while (waiting.length && performance.now() < end);
    working = waiting.length > 0;
    if (working) requestAnimationFrame(work);
    else finished.splice(0).forEach((call) => call());
  };

  const Quick = L.Canvas.extend({
    // From afar a line is a point: draw a dot that can be seen.
    _updatePoly(line, closed) {
      if (!closed) line._parts.forEach((part) => {
        if (part.length > LEAST) return;
        const { min, max } = L.bounds(part);
        if (max.x - min.x >= LEAST || max.y - min.y >= LEAST) return;
        const middle = min.add(max).divideBy(2);
        part.splice(0, part.length, ...DOT.map((corner) => middle.add(corner)));
      });
      L.Canvas.prototype._updatePoly.call(this, line, closed);
    },
  });

  const Patient = Quick.extend({
    begin() {
      this.next = null;
      if (!waiting.includes(this)) waiting.push(this);
      if (!working) requestAnimationFrame(work);
      working = true;
    },

    // Whether the picture is whole, and shown.
    drawSome() {
      const own = this._ctx;
      if (this.next === null) {
        this.size(sheet, pen);
        this.next = this._drawFirst;
      }
      this._ctx = pen;
      this._drawing = true;
      for (let count = 0; count < AT_ONCE && this.next; count += 1, this.next = this.next.next) {
        if (this.moved) this.next.layer._project();
        this.next.layer._update(); // which draws
      }
      this._drawing = false;
      this._ctx = own;
      // Browsers put off the work until somebody looks: now, not all in the last frame.
      pen.getImageData(0, 0, 1, 1);
      if (this.next) return false;
      this.size(this._container, own);
      L.DomUtil.setPosition(this._container, this._bounds.min);
      own.setTransform(1, 0, 0, 1, 0, 0);
      own.drawImage(sheet, 0, 0);
      this.picture = { _center: this._center, _zoom: this._zoom };
      this.moved = false;
      return true;
    },

    size(canvas, context) {
      const { x, y } = this._bounds.getSize();
      const fine = L.Browser.retina ? 2 : 1;
      Object.assign(canvas, { width: fine * x, height: fine * y });
      Object.assign(canvas.style, { width: `${x}px`, height: `${y}px` });
      context.setTransform(fine, 0, 0, fine, -fine * this._bounds.min.x, -fine * this._bounds.min.y);
    },

    // What Leaflet does at once, put off.

    _update() {
      if (this._map._animatingZoom && this._bounds) return;
      L.Renderer.prototype._update.call(this);
      this.begin();
    },
    _onZoomEnd() {
      this.moved = true;
    },
    _reset() {
      this.moved = true;
      this._update();
      this._updateTransform(this._map.getCenter(), this._map.getZoom());
    },
    _updatePaths() {
      this.begin();
    },
    _redraw() {
      this._redrawRequest = this._redrawBounds = null;
      this.begin();
    },
    _destroyContainer() {
      const at = waiting.indexOf(this);
      if (at >= 0) waiting.splice(at, 1);
      L.Canvas.prototype._destroyContainer.call(this);
    },

    // The picture that is seen moves, not the one that grows.
    _updateTransform(center, zoom) {
      if (!this.picture) return;
      const { _center, _zoom } = this;
      Object.assign(this, this.picture);
      L.Canvas.prototype._updateTransform.call(this, center, zoom);
      Object.assign(this, { _center, _zoom });
    },
  });

  // Kept when all that was asked for is seen: next frame at the earliest.
  const drawn = () => new Promise((done) => requestAnimationFrame(() => {
    if (working) finished.push(done);
    else done();
  }));

  return {
    quick: (options) => new Quick(options),
    patient: (options) => new Patient(options),
    drawn,
  };
})();
