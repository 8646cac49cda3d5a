// Vectors are arrays of three numbers, quaternions of four (w, x, y, z), matrices of sixteen in columns, as WebGL wants.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, f) => [a[0] * f, a[1] * f, a[2] * f];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scaled(a, 1 / (norm(a) || 1));
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

function turned(q, v) {
  const u = [q[1], q[2], q[3]];
  const t = scaled(cross(u, v), 2);
  return add(add(v, scaled(t, q[0])), cross(u, t));
}

function product(a, b) {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

const conjugate = (q) => [q[0], -q[1], -q[2], -q[3]];

// Between two rotations, on the shorter way.
function mixedTurn(a, b, part) {
  const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  const q = [0, 1, 2, 3].map((c) => a[c] + part * (sign * b[c] - a[c]));
  const size = Math.hypot(q[0], q[1], q[2], q[3]);
  return [q[0] / size, q[1] / size, q[2] / size, q[3] / size];
}

// The rotation from g to q, f times as far; never more than half a turn, where it would come back from the other side.
function magnifiedTurn(g, q, f) {
  let [w, x, y, z] = product(conjugate(g), q);
  if (w < 0) [w, x, y, z] = [-w, -x, -y, -z];
  const sine = Math.hypot(x, y, z);
  if (sine < 1e-9) return q;
  const half = Math.min(f * Math.atan2(sine, w), Math.PI / 2);
  const part = Math.sin(half) / sine;
  return product(g, [Math.cos(half), x * part, y * part, z * part]);
}

// The rotation that turns z to the direction v.
function turnTo(v) {
  const [x, y, z] = unit(v);
  if (z < -1 + 1e-9) return [0, 1, 0, 0];
  const size = Math.hypot(1 + z, x, y);
  return [(1 + z) / size, -y / size, x / size, 0];
}

// Of a body at p, turned by q, with the extents s along its own axes.
function placed(p, q, s) {
  const x = scaled(turned(q, [1, 0, 0]), s[0]);
  const y = scaled(turned(q, [0, 1, 0]), s[1]);
  const z = scaled(turned(q, [0, 0, 1]), s[2]);
  return [...x, 0, ...y, 0, ...z, 0, ...p, 1];
}

function times(a, b) {
  const out = new Array(16).fill(0);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    }
  }
  return out;
}

function looking(eye, target, up) {
  const back = unit(sub(eye, target));
  const right = unit(cross(up, back));
  const above = cross(back, right);
  const [x, y, z] = [-dot(right, eye), -dot(above, eye), -dot(back, eye)];
  return [
    right[0], above[0], back[0], 0, right[1], above[1], back[1], 0, right[2], above[2], back[2], 0, x, y, z, 1,
  ];
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const depth = 1 / (near - far);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) * depth, -1, 0, 0, 2 * far * near * depth, 0];
}

// A point of the world in a projection: [x, y, depth], each from -1 to 1, or null behind the eye.
function seen(matrix, p) {
  const at = (r) => matrix[r] * p[0] + matrix[4 + r] * p[1] + matrix[8 + r] * p[2] + matrix[12 + r];
  const w = at(3);
  return w > 1e-9 ? [at(0) / w, at(1) / w, at(2) / w] : null;
}

// A length of the row 1, 2, 5, 10, ... near the given one.
function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  const part = length / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

// Few digits, without exponents where these can be avoided; powers of ten by the prefixes of the unit where it has them.
const PREFIXES = { "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G" };

function short(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits)));
  return value.toExponential(digits - 1).replace("e+", "e");
}

// The factor and the unit in which numbers up to `largest` are best read.
function readable(largest, unitName) {
  const takes = ["N", "N m", "Pa", "J", "W"].includes(unitName);
  if (!takes || !(largest > 0)) return { factor: 1, unit: unitName === "1" ? "" : unitName };
  const power = clamp(3 * Math.floor(Math.log10(largest) / 3), -9, 9);
  return { factor: 10 ** -power, unit: PREFIXES[power] + unitName };
}
