// Writing over the picture: metres along the grid, and the axes of the world in a corner.

class Labels {
  constructor(canvas, scene, spacing) {
    this.canvas = canvas;
    this.scene = scene;
    this.spacing = spacing;
    this.ink = canvas.getContext("2d");
  }

  draw(camera, matrix, colors, grid) {
    const { canvas, ink } = this;
    const sharp = window.devicePixelRatio || 1;
    this.size = [canvas.clientWidth, canvas.clientHeight];
    const [width, height] = this.size.map((x) => Math.round(x * sharp));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    ink.setTransform(sharp, 0, 0, sharp, 0, 0);
    ink.clearRect(0, 0, ...this.size);
    ink.font = "11px system-ui, sans-serif";
    ink.textAlign = "center";
    ink.textBaseline = "middle";
    if (grid) this.metres(camera, matrix, colors);
    this.axes(camera, colors);
  }

  onScreen(matrix, p) {
    const at = seen(matrix, p);
    return at && Math.abs(at[2]) <= 1 ? [(0.5 + at[0] / 2) * this.size[0], (0.5 - at[1] / 2) * this.size[1]] : null;
  }

  // A place with room for a word about it, or null.
  inside(place) {
    const [width, height] = this.size;
    return place && place[0] > 18 && place[0] < width - 18 && place[1] > 9 && place[1] < height - 9 ? place : null;
  }

  // Along the two edges of a square under the motion that are nearest to the eye.
  metres(camera, matrix, colors) {
    const { scene, spacing, ink } = this;
    const { east, north, up } = camera;
    const half = Math.max(1, Math.ceil((0.75 * scene.radius) / spacing)) * spacing;
    const eye = sub(camera.eye, camera.target);
    const floor = scaled(up, scene.ground);
    const middle = [east, north].map((axis) => Math.round(dot(scene.center, axis) / spacing) * spacing);
    ink.fillStyle = colors.quiet;
    this.written = [];
    const along = [[east, north, 0], [north, east, 1]].map(([axis, other, k]) => {
      // the near edge, or the far one where the near one is not in the picture
      const side = Math.sign(dot(eye, other) || 1);
      const edges = [side, -side].map((sign) => middle[1 - k] + sign * (half + 0.35 * spacing));
      const place = (at, edge) =>
        this.inside(this.onScreen(matrix, add(floor, add(scaled(axis, at), scaled(other, edge)))));
      const edge = edges.find((each) => place(middle[k], each));
      if (edge === undefined) return { numbers: [], ends: [] };
      const sign = axis.find((x) => x !== 0); // level axes may point against those of the world
      const numbers = [];
      for (let at = middle[k] - half; at <= middle[k] + half + 1e-9 * half; at += spacing) {
        const value = Math.round((sign * at) / (0.1 * spacing)) * 0.1 * spacing + 0;
        numbers.push([short(value, 3), place(at, edge)]);
      }
      const ends = [1, -1].map((way) => place(middle[k] + way * (half + 0.7 * spacing), edge));
      return { name: "xyz"[axis.findIndex((x) => x !== 0)], numbers, ends };
    });
    // names stand behind either end, or with a number where both ends are out of the picture; numbers give way to them
    for (const { name, numbers, ends } of along) {
      ends.some((at) => this.write(`${name} [m]`, at)) ||
        [...numbers].reverse().some(([value, at]) => this.write(`${name} = ${value} m`, at));
    }
    for (const { numbers } of along) numbers.forEach(([value, at]) => this.write(value, at));
  }

  // Words that keep clear of those written before; whether there was room.
  write(words, place) {
    if (!place || this.written.some(({ at }) => Math.hypot(place[0] - at[0], 1.6 * (place[1] - at[1])) < 34)) return false;
    this.ink.fillText(words, ...place);
    this.written.push({ words, at: place });
    return true;
  }

  axes(camera, colors) {
    const { ink } = this;
    const back = unit(sub(camera.eye, camera.target));
    const right = unit(cross(camera.up, back));
    const above = cross(back, right);
    const [x0, y0] = [this.size[0] - 46, this.size[1] - 42];
    const drawn = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis, k) => ({ axis, k, depth: dot(axis, back) }));
    drawn.sort((a, b) => a.depth - b.depth);
    ink.lineWidth = 2;
    ink.lineCap = "round";
    for (const { axis, k } of drawn) {
      const [dx, dy] = [dot(axis, right), -dot(axis, above)];
      ink.strokeStyle = ink.fillStyle = [colors.palette[1], colors.palette[2], colors.palette[0]][k];
      ink.beginPath();
      ink.moveTo(x0, y0);
      ink.lineTo(x0 + 22 * dx, y0 + 22 * dy);
      ink.stroke();
      ink.fillText("xyz"[k], x0 + 31 * dx, y0 + 31 * dy);
    }
  }
}
