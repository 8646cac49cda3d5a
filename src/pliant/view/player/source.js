// Where frames come from: the bytes of a scene, as pliant/view/page.py wrote them, become runs that answer for any time.

// An array over frames. It can grow, so that frames may still arrive while they are played.
class Series {
  constructor(array, perFrame) {
    this.array = array;
    this.perFrame = perFrame;
    this.count = perFrame ? array.length / perFrame : 0;
  }

  append(values) {
    const wanted = (this.count + 1) * this.perFrame;
    if (wanted > this.array.length) {
      const larger = new this.array.constructor(Math.max(2 * this.array.length, 64 * this.perFrame));
      larger.set(this.array);
      this.array = larger;
    }
    this.array.set(values, this.count * this.perFrame);
    this.count += 1;
  }
}

const TYPES = { f4: Float32Array, i2: Int16Array, u4: Uint32Array };
const NOTHING = -32768; // stands for a number that is not there

// The quaternion of a rotation that is given by its first two columns, six numbers in a row that begin at `at`.
function quaternionAt(columns, at) {
  const x = unit([columns[at], columns[at + 1], columns[at + 2]]);
  const z = unit(cross(x, [columns[at + 3], columns[at + 4], columns[at + 5]]));
  const y = cross(z, x);
  // of the four squares the largest is at least a quarter; the others follow from it
  const squares = [x[0] + y[1] + z[2], x[0] - y[1] - z[2], y[1] - x[0] - z[2], z[2] - x[0] - y[1]];
  const largest = squares.indexOf(Math.max(...squares));
  const [a, b, c] = [y[2] - z[1], z[0] - x[2], x[1] - y[0]];
  const [d, e, f] = [x[1] + y[0], x[2] + z[0], y[2] + z[1]];
  const s = 1 + squares[largest];
  const rows = [[s, a, b, c], [a, s, d, e], [b, d, s, f], [c, e, f, s]];
  return rows[largest].map((k) => (k * 0.5) / Math.sqrt(s));
}

function decode(bytes) {
  const head = new DataView(bytes).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, head)));
  const start = 4 + head;
  const array = (ref) => new TYPES[ref.type](bytes, start + ref.at, ref.shape.reduce((a, b) => a * b, 1));
  scene.runs = scene.runs.map((run, k) => new Run(run, array, scene.fields, k));
  return scene;
}

async function loadScene() {
  const held = document.getElementById("scene");
  if (held) {
    const text = atob(held.textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return decode(bytes.buffer);
  }
  const answer = await fetch("scene");
  if (!answer.ok) throw new Error(`the scene did not come: ${answer.status}`);
  return decode(await answer.arrayBuffer());
}

// One motion. After `sample(t, factor)` the arrays `pose` and `ghost` hold seven numbers a section, position and
// quaternion, as they are to be drawn: deflections `factor` times as large as they were.
class Run {
  constructor(given, array, fields, number) {
    Object.assign(this, given);
    this.number = number;
    this.visible = true;
    const series = (ref) => new Series(array(ref), ref.shape.slice(1).reduce((a, b) => a * b, 1));
    this.time = series(given.time);
    this.position = series(given.position);
    this.rotation = series(given.rotation);
    this.rootPosition = series(given.rootPosition);
    this.rootRotation = series(given.rootRotation);
    for (const link of this.links) {
      for (const name of ["outline", "hole", "restPosition"]) link[name] = array(link[name]);
      const turns = array(link.restRotation);
      link.rest = Array.from({ length: link.count }, (_, k) => ({
        position: link.restPosition.subarray(3 * k, 3 * k + 3),
        turn: quaternionAt(turns, 6 * k),
      }));
      link.points = link.outline.length / (2 * link.count);
      link.holePoints = link.hole.length / (2 * link.count);
    }
    this.values = given.fields.map((ref, k) => ({ ...fields[k], scale: ref.scale, series: series(ref) }));
    for (const arrow of this.arrows) arrow.vectors = series(arrow.vectors);
    for (const curve of this.curves) curve.values = series(curve.values);
    for (const mesh of this.meshes) {
      for (const name of ["vertices", "fromTip", "towardTip", "triangles"]) mesh[name] = array(mesh[name]);
    }
    this.sections = this.position.perFrame / 3;
    this.pose = new Float32Array(7 * this.sections);
    this.ghost = new Float32Array(7 * this.sections);
    this.frame = { before: 0, part: 0 };
  }

  get start() {
    return this.time.array[0];
  }

  get end() {
    return this.time.array[this.time.count - 1];
  }

  // The frame before the time t, and how far t is on the way to the next.
  at(t) {
    const { array, count } = this.time;
    if (count < 2 || t <= array[0]) return { before: 0, part: 0 };
    if (t >= array[count - 1]) return { before: count - 2, part: 1 };
    let [low, high] = [0, count - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (array[middle] <= t) low = middle;
      else high = middle;
    }
    return { before: low, part: (t - array[low]) / (array[high] - array[low] || 1) };
  }

  // Number k of a series between two frames.
  between(series, k, { before, part } = this.frame) {
    const at = before * series.perFrame + k;
    const first = series.array[at];
    return part ? first + part * (series.array[at + series.perFrame] - first) : first;
  }

  // Rotation k of a series between two frames.
  turnBetween(series, k, { before, part }) {
    const at = before * series.perFrame + 6 * k;
    const q = quaternionAt(series.array, at);
    return part ? mixedTurn(q, quaternionAt(series.array, at + series.perFrame), part) : q;
  }

  sample(t, factor) {
    const frame = (this.frame = this.at(t));
    const { pose, ghost } = this;
    this.links.forEach((link, index) => {
      const root = [0, 1, 2].map((c) => this.between(this.rootPosition, 3 * index + c, frame));
      const turn = this.turnBetween(this.rootRotation, index, frame);
      for (let k = 0; k < link.count; k++) {
        const section = link.first + k;
        const bare = add(root, turned(turn, link.rest[k].position));
        const bareTurn = product(turn, link.rest[k].turn);
        let place = [0, 1, 2].map((c) => this.between(this.position, 3 * section + c, frame));
        let q = this.turnBetween(this.rotation, section, frame);
        if (factor !== 1) {
          place = add(bare, scaled(sub(place, bare), factor));
          q = magnifiedTurn(bareTurn, q, factor);
        }
        ghost.set(bare, 7 * section);
        ghost.set(bareTurn, 7 * section + 3);
        pose.set(place, 7 * section);
        pose.set(q, 7 * section + 3);
      }
    });
  }

  // Position and rotation of a section, or between two, of the arm as drawn; the world is section -1.
  place(section, poses = this.pose) {
    if (section < 0) return [[0, 0, 0], [1, 0, 0, 0]];
    const low = Math.floor(section);
    const part = section - low;
    const at = (k) => [poses.subarray(7 * k, 7 * k + 3), poses.subarray(7 * k + 3, 7 * k + 7)];
    const [p, q] = at(low);
    if (part < 1e-6) return [p, q];
    const [p1, q1] = at(low + 1);
    return [add(p, scaled(sub(p1, p), part)), mixedTurn(q, q1, part)];
  }

  point(section, position) {
    const [p, q] = this.place(section);
    return add(p, turned(q, position));
  }

  // The numbers of a field at the present time: (a, b, c) with the value a + b y + c z, or null where there is none.
  value(field, section) {
    const { series, scale } = this.values[field];
    const parts = series.perFrame / this.sections;
    const at = parts * section;
    if (series.array[this.frame.before * series.perFrame + at] === NOTHING) return null;
    const one = (c) => (c < parts ? scale[c] * this.between(series, at + c) : 0);
    return [one(0), one(1), one(2)];
  }

  // The largest size of a field over all frames, on the surface of the links.
  largest(field) {
    const known = this.values[field];
    if (known.largest === undefined) known.largest = this.searched(known);
    return known.largest;
  }

  searched({ series, scale }) {
    const parts = series.perFrame / this.sections;
    let largest = -1;
    for (const link of this.links) {
      for (let k = 0; k < link.count && link.points; k++) {
        let [y, z] = [0, 0];
        for (let j = 0; j < link.points; j++) {
          y = Math.max(y, Math.abs(link.outline[2 * (k * link.points + j)]));
          z = Math.max(z, Math.abs(link.outline[2 * (k * link.points + j) + 1]));
        }
        for (let i = 0; i < series.count; i++) {
          const at = i * series.perFrame + parts * (link.first + k);
          if (series.array[at] === NOTHING) continue;
          let value = Math.abs(series.array[at]) * scale[0];
          if (parts > 1) {
            const [b, c] = [series.array[at + 1] * scale[1] * y, series.array[at + 2] * scale[2] * z];
            value += link.round ? Math.hypot(b, c) : Math.abs(b) + Math.abs(c);
          }
          if (value > largest) largest = value;
        }
      }
    }
    return largest;
  }

  // The path of the tip as drawn: its points, and the frame of each. Points nearer than `apart` to the last are left out.
  trace(factor, apart) {
    const [points, frames] = [[], []];
    let last = null;
    const link = this.links.find((each) => this.tip >= each.first && this.tip < each.first + each.count);
    const rest = link.rest[this.tip - link.first].position;
    for (let i = Math.max(0, this.time.count - (this.traced || Infinity)); i < this.time.count; i++) {
      const at = this.position.perFrame * i + 3 * this.tip;
      let p = [this.position.array[at], this.position.array[at + 1], this.position.array[at + 2]];
      if (factor !== 1) {
        const frame = { before: i, part: 0 };
        const root = [0, 1, 2].map((c) => this.between(this.rootPosition, 3 * link.index + c, frame));
        const bare = add(root, turned(this.turnBetween(this.rootRotation, link.index, frame), rest));
        p = add(bare, scaled(sub(p, bare), factor));
      }
      if (last && i + 1 < this.time.count && norm(sub(p, last)) < apart) continue;
      points.push(...p);
      frames.push(i);
      last = p;
    }
    return { points, frames };
  }
}
