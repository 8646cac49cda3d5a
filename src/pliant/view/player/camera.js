// The eye: it turns about a target, comes nearer, moves along, and may follow the tip.

const VIEW_ANGLE = 0.6; // rad, between the lower and the upper edge of the picture

class Camera {
  constructor(scene, canvas, changed) {
    this.scene = scene;
    this.canvas = canvas;
    this.changed = changed;
    this.up = scene.up;
    // two level directions that make a right-handed frame with up
    const axis = this.up.findIndex((x) => x !== 0);
    this.east = [0, 0, 0];
    this.east[(axis + 1) % 3] = 1;
    this.north = cross(this.up, this.east);
    this.fit();
    this.listen();
  }

  // From where a motion in a plane is best seen: across the plane, and a little from above and aside.
  fit() {
    const { center, radius, flat } = this.scene;
    this.target = center.slice();
    const wide = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
    this.distance = (1.1 * radius) / Math.sin(VIEW_ANGLE / 2) / Math.min(1, wide);
    [this.azimuth, this.elevation] = [-1.05, 0.42];
    if (flat) {
      const level = Math.abs(dot(flat, this.up)) < 0.5;
      if (level) {
        // of both sides the one from which the first of the two axes points to the right
        const to = dot(flat, [1, 1, 1]) > 0 && flat[1] !== 0 ? scaled(flat, -1) : flat;
        [this.azimuth, this.elevation] = [Math.atan2(dot(to, this.north), dot(to, this.east)) + 0.3, 0.25];
      } else [this.azimuth, this.elevation] = [-Math.PI / 2 + 0.25, 0.95];
    }
    this.changed();
  }

  look(azimuth, elevation) {
    [this.azimuth, this.elevation] = [azimuth, elevation];
    this.changed();
  }

  get eye() {
    const level = Math.cos(this.elevation);
    const away = add(
      add(scaled(this.east, level * Math.cos(this.azimuth)), scaled(this.north, level * Math.sin(this.azimuth))),
      scaled(this.up, Math.sin(this.elevation)),
    );
    return add(this.target, scaled(away, this.distance));
  }

  get right() {
    return unit(cross(this.up, sub(this.eye, this.target)));
  }

  matrix() {
    const aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
    const size = 3 * this.scene.radius;
    const near = Math.max(0.01 * this.distance, this.distance - 4 * size);
    const shape = perspective(VIEW_ANGLE, aspect, near, this.distance + 14 * size);
    return times(shape, looking(this.eye, this.target, this.up));
  }

  turn(dx, dy) {
    this.azimuth -= 0.006 * dx;
    this.elevation = clamp(this.elevation + 0.006 * dy, -1.5, 1.5);
    this.changed();
  }

  move(dx, dy) {
    const perPixel = (2 * this.distance * Math.tan(VIEW_ANGLE / 2)) / this.canvas.clientHeight;
    const above = unit(cross(sub(this.eye, this.target), this.right));
    this.target = add(this.target, add(scaled(this.right, -dx * perPixel), scaled(above, dy * perPixel)));
    this.changed();
  }

  zoom(factor) {
    const { radius } = this.scene;
    this.distance = clamp(this.distance * factor, 0.02 * radius, 40 * radius);
    this.changed();
  }

  // One finger or the left button turns, two fingers, the right button or shift move, wheel and pinch zoom.
  listen() {
    const { canvas } = this;
    const held = new Map();
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => held.delete(event.pointerId));
    }
    canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY];
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      if (held.size === 2) {
        const other = [...held].find(([id]) => id !== event.pointerId)[1];
        const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        this.zoom(apart(before) / apart(now));
        this.move(dx / 2, dy / 2);
      } else if (event.shiftKey || event.buttons & 6) this.move(dx, dy);
      else this.turn(dx, dy);
      held.set(event.pointerId, now);
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(clamp(event.deltaY, -200, 200) * 0.0012));
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", () => this.fit());
  }
}
