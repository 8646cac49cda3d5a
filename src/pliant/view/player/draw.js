// The picture: ground and shadows, then what is solid, then what is seen through.

const IDENTITY = { place: [0, 0, 0], turn: [1, 0, 0, 0], size: [1, 1, 1] };
const SEQUENTIAL = "#440154 #482878 #3e4989 #31688e #26828e #1f9e89 #35b779 #6ece58 #b5de2b #fde725".split(" ");
const DIVERGING = "#123f63 #1f6f9f #7fb1cd #dde4e8 #f0b79f #d1603d #7f2d16".split(" ");

function rgb(hex) {
  const text = hex.trim().replace("#", "");
  return [0, 2, 4].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);
}

function mixed(a, b, part) {
  return a.map((x, k) => x + part * (b[k] - x));
}

// The colour at a part of a row of colours, 0 to 1.
function along(row, part) {
  const at = clamp(part, 0, 1) * (row.length - 1);
  const low = Math.min(Math.floor(at), row.length - 2);
  return mixed(rgb(row[low]), rgb(row[low + 1]), at - low);
}

class Picture {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.scene = scene;
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, stencil: true });
    if (!gl) throw new Error("this browser has no WebGL 2; switch on hardware or software rendering");
    this.gl = gl;
    this.surface = new Program(gl, SURFACE_VERTEX, SURFACE_FRAGMENT, ["position", "normal", "value"]);
    this.floor = new Program(gl, GROUND_VERTEX, GROUND_FRAGMENT, ["corner"]);
    this.line = new Program(gl, LINE_VERTEX, LINE_FRAGMENT, ["corner", "first", "second"]);
    this.solids = {
      box: this.fixed(boxShape()),
      ball: this.fixed(ballShape()),
      cylinder: this.fixed(cylinderShape()),
      shaft: this.fixed(shaftShape()),
      head: this.fixed(headShape()),
    };
    this.square = this.plain([-1, -1, 1, -1, -1, 1, 1, 1]);
    this.strip = this.plain([0, -1, 0, 1, 1, -1, 1, 1]);
    this.maps = this.texture();
    this.tubes = new Map(scene.runs.map((run) => [run, this.tubesOf(run)]));
    this.traces = new Map();
    this.spacing = roundLength(scene.radius / 4);
  }

  // Buffers -------------------------------------------------------------------------------------------------------

  fixed({ vertices, triangles }) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
    for (const [place, offset] of [[0, 0], [1, 12]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, offset);
    }
    this.elements(triangles);
    return { array, count: triangles.length };
  }

  elements(triangles) {
    const { gl } = this;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(triangles), gl.STATIC_DRAW);
  }

  // A surface whose vertices are written anew for every picture.
  moving(shape) {
    const { gl } = this;
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, shape.vertices.byteLength, gl.DYNAMIC_DRAW);
    for (const [place, size, offset] of [[0, 3, 0], [1, 3, 12], [2, 1, 24]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 28, offset);
    }
    this.elements(shape.triangles);
    return { array, buffer, count: shape.triangles.length, shape };
  }

  write(surface, poses, field) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, surface.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, surface.shape.fill(poses, field));
  }

  plain(numbers) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    return buffer;
  }

  texture() {
    const { gl } = this;
    const pixels = [SEQUENTIAL, DIVERGING].flatMap((row) =>
      Array.from({ length: 256 }, (_, k) => [...along(row, k / 255).map((x) => Math.round(255 * x)), 255]).flat(),
    );
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(pixels));
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
  }

  tubesOf(run) {
    const swept = run.links.filter((link) => link.points > 0).map((link) => new Tube(run, link));
    return [...swept, ...run.meshes.map((mesh) => new Skin(run, mesh))].map((shape) => this.moving(shape));
  }

  // The picture ----------------------------------------------------------------------------------------------------

  draw(state, camera, colors) {
    const { gl, scene, canvas } = this;
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((x) => Math.max(1, Math.round(x * sharp)));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

    this.camera = camera.matrix();
    this.pixels = [width / 2, height / 2];
    this.sharp = sharp;
    this.common = {
      camera: this.camera, eye: camera.eye, above: scene.up, ground: [...scene.up, scene.ground + 2e-4 * scene.radius],
      flat_: false, coloured: false, range: [0, 1], map: 0.25, maps: 0, color: [1, 1, 1, 1], ...IDENTITY,
    };
    const runs = scene.runs.filter((run) => run.visible);
    for (const run of runs) this.tubes.get(run).forEach((tube) => this.write(tube, run.pose, state.field));
    if (state.ground) {
      this.drawGround(camera, colors);
      this.drawShadows(runs, state);
    }
    runs.forEach((run) => this.drawRun(run, state, colors));
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    if (state.trace) runs.forEach((run) => this.drawTrace(run, state, colors));
    gl.depthMask(true);
    runs.forEach((run) => this.drawLines(run, colors));
    if (state.ghost) runs.forEach((run) => this.drawGhost(run, colors));
    runs.forEach((run) => this.drawWalls(run, colors));
    gl.disable(gl.BLEND);
  }

  drawGround(camera, colors) {
    const { gl, scene } = this;
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    const middle = sub(scene.center, scaled(scene.up, dot(scene.center, scene.up) - scene.ground));
    const { east, north } = camera;
    this.floor.use({
      camera: this.camera, middle, east, north, extent: 9 * scene.radius, fade: 5.5 * scene.radius,
      origin: [dot(middle, east), dot(middle, north)], spacing: this.spacing, color: [...rgb(colors.grid), 0.8],
    });
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.square);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  // Everything flattened onto the ground; the stencil lets each point of it grow dark once.
  drawShadows(runs, state) {
    const { gl } = this;
    gl.enable(gl.BLEND);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.depthMask(false);
    const alpha = 0.14;
    this.surface.use({ ...this.common, flat_: true, color: [0.02 * alpha, 0.05 * alpha, 0.08 * alpha, alpha] });
    for (const run of runs) {
      this.surface.set(IDENTITY);
      this.tubes.get(run).forEach((tube) => this.triangles(tube));
      for (const solid of run.solids) {
        if (state.bodies && solid.role !== "wall") this.drawSolid(run, solid);
      }
    }
    gl.depthMask(true);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
  }

  triangles({ array, count }) {
    const { gl } = this;
    gl.bindVertexArray(array);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
  }

  drawSolid(run, solid, poses = run.pose) {
    const [p, q] = run.place(solid.section, poses);
    const place = add(p, turned(q, solid.position));
    this.surface.set({ place, turn: product(q, solid.quaternion), size: solid.size });
    this.triangles(this.solids[solid.kind]);
  }

  // Of several runs each has its own colour, and what belongs to it takes half of it on.
  colorOf(run, role, colors) {
    const own = rgb(colors.palette[run.number % colors.palette.length]);
    if (role === "link") return own;
    return this.scene.runs.length > 1 && !this.scene.oneAtATime ? mixed(rgb(colors[role]), own, 0.45) : rgb(colors[role]);
  }

  drawRun(run, state, colors) {
    const { gl, common } = this;
    const shown = state.field >= 0;
    const colour = this.scene.oneAtATime ? rgb(colors.palette[0]) : this.colorOf(run, "link", colors);
    const signed = shown && this.scene.fields[state.field].signed;
    const top = state.top || 1;
    this.surface.use({
      ...common, color: [...(shown ? rgb(colors.plain) : colour), 1], coloured: shown,
      range: [signed ? -top : 0, top], map: signed ? 0.75 : 0.25,
    });
    this.tubes.get(run).forEach((tube) => this.triangles(tube));
    this.surface.set({ coloured: false });
    if (state.bodies) {
      for (const solid of run.solids) {
        if (solid.role === "wall") continue;
        const role = solid.role.replace(" ", "");
        this.surface.set({ color: [...this.colorOf(run, role, colors), 1] });
        this.drawSolid(run, solid);
      }
    }
    for (const arrow of run.arrows) {
      if (state.arrows[arrow.group]) this.drawArrow(run, arrow, state, colors);
    }
    gl.bindVertexArray(null);
  }

  // A shaft and a head along the vector; a moment has two heads. Lengths go by the largest of its group and unit.
  drawArrow(run, arrow, state, colors) {
    const vector = [0, 1, 2].map((c) => run.between(arrow.vectors, c));
    const size = norm(vector);
    const length = (state.arrowSize * this.scene.radius * size) / (arrow.largest || 1);
    const thick = 0.018 * this.scene.radius;
    if (!(length > 0.3 * thick)) return;
    const along = unit(vector);
    const turn = turnTo(along);
    const from = run.point(arrow.section, arrow.position);
    const moment = arrow.unit === "N m" || (arrow.unit === "N" && arrow.name.endsWith(" moment"));
    const head = Math.min(3.2 * thick, 0.6 * length);
    const color = [...rgb(moment ? colors.moment : colors.force), 1];
    this.surface.set({ color, place: from, turn, size: [thick, thick, Math.max(length - head, 1e-6)] });
    this.triangles(this.solids.shaft);
    const wide = 2.6 * thick * Math.min(1, head / (1.2 * thick));
    for (const back of moment ? [0, 0.75] : [0]) {
      const place = add(from, scaled(along, length - head * (1 + back)));
      this.surface.set({ place, size: [wide, wide, head] });
      this.triangles(this.solids.head);
    }
  }

  drawGhost(run, colors) {
    const { gl } = this;
    const alpha = 0.3;
    this.surface.use({ ...this.common, color: [...rgb(colors.ghost), alpha] });
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 4);
    const all = () => {
      this.surface.set(IDENTITY);
      for (const tube of this.tubes.get(run)) {
        this.write(tube, run.ghost, -1);
        this.triangles(tube);
      }
      for (const solid of run.solids) {
        if (["body", "payload"].includes(solid.role)) this.drawSolid(run, solid, run.ghost);
      }
    };
    // first its depth alone, so that it does not shine through itself
    gl.colorMask(false, false, false, false);
    all();
    gl.colorMask(true, true, true, true);
    all();
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  drawWalls(run, colors) {
    const walls = run.solids.filter((solid) => solid.role === "wall");
    if (!walls.length) return;
    this.surface.use({ ...this.common, color: [...rgb(colors.wall), 0.34] });
    this.gl.depthMask(false);
    walls.forEach((solid) => this.drawSolid(run, solid));
    this.gl.depthMask(true);
  }

  // The path so far, and faintly the rest.
  drawTrace(run, state, colors) {
    let known = this.traces.get(run);
    if (!known || known.factor !== state.factor || known.count !== run.time.count) {
      if (known) this.gl.deleteBuffer(known.buffer);
      const { points, frames } = run.trace(state.factor, 0.003 * this.scene.radius);
      known = { factor: state.factor, count: run.time.count, frames, buffer: this.plain(points) };
      this.traces.set(run, known);
    }
    const colour = rgb(this.scene.runs.length > 1 ? colors.palette[run.number % colors.palette.length] : colors.trace);
    const now = run.frame.before + run.frame.part;
    const done = known.frames.filter((frame) => frame <= now).length - 1;
    this.segments(known.buffer, 0, known.frames.length - 1, 12, { color: [...colour, 0.22], width: 0.9 });
    this.segments(known.buffer, 0, done, 12, { color: [...colour, 1], width: 1.3 });
  }

  drawLines(run, colors) {
    for (const line of run.lines) {
      const points = line.sections.map((section, k) => run.point(section, line.positions[k]));
      const drawn = line.role === "spring" ? coiled(points, 0.03 * this.scene.radius) : points;
      const buffer = this.plain(drawn.flat());
      this.segments(buffer, 0, drawn.length - 1, 12, { color: [...rgb(colors.line), 1], width: 1.4 });
      this.gl.deleteBuffer(buffer);
    }
  }

  // Pieces between points that follow each other in a buffer.
  segments(buffer, from, count, stride, look) {
    const { gl } = this;
    if (count < 1) return;
    this.line.use({ camera: this.camera, pixels: this.pixels, color: look.color, width: look.width * this.sharp });
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.strip);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (const place of [1, 2]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, stride, stride * (from + place - 1));
      gl.vertexAttribDivisor(place, 1);
    }
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    for (const place of [1, 2]) {
      gl.vertexAttribDivisor(place, 0);
      gl.disableVertexAttribArray(place);
    }
  }
}

// A spring between two points, as a zigzag.
function coiled([a, b], wide) {
  const axis = unit(sub(b, a));
  const side = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  const points = [a];
  for (let k = 1; k < 16; k++) {
    const off = k > 2 && k < 14 ? (k % 2 ? wide : -wide) : 0;
    points.push(add(add(a, scaled(sub(b, a), k / 16)), scaled(side, off)));
  }
  return [...points, b];
}
