// Triangles: solids of unit size, and tubes swept along the sections of links.

// A vertex is a position and a normal; the normal (0, 0, 0) stands for that of its triangle, which keeps edges sharp.
function boxShape() {
  const [vertices, triangles] = [[], []];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-0.5, 0.5]) {
      const first = vertices.length / 6;
      for (const [a, b] of [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) {
        const p = [0, 0, 0];
        const n = [0, 0, 0];
        p[axis] = side;
        p[(axis + 1) % 3] = a;
        p[(axis + 2) % 3] = b;
        n[axis] = 2 * side;
        vertices.push(...p, ...n);
      }
      const order = side > 0 ? [0, 1, 2, 0, 2, 3] : [0, 2, 1, 0, 3, 2];
      triangles.push(...order.map((k) => first + k));
    }
  }
  return { vertices, triangles };
}

// About z: radii at heights, smooth around, with flat ends where the radius does not vanish.
function turnedShape(profile, around = 36) {
  const [vertices, triangles] = [[], []];
  const ring = (radius, height, normal) => {
    const first = vertices.length / 6;
    for (let k = 0; k < around; k++) {
      const [c, s] = [Math.cos((2 * Math.PI * k) / around), Math.sin((2 * Math.PI * k) / around)];
      vertices.push(radius * c, radius * s, height, normal[0] * c, normal[0] * s, normal[1]);
    }
    return first;
  };
  for (let i = 0; i + 1 < profile.length; i++) {
    const [[r0, h0, n0], [r1, h1, n1]] = [profile[i], profile[i + 1]];
    const across = unit([h1 - h0, 0, r0 - r1]);
    const low = ring(r0, h0, n0 || [across[0], across[2]]);
    const high = ring(r1, h1, n1 || [across[0], across[2]]);
    for (let k = 0; k < around; k++) {
      const next = (k + 1) % around;
      triangles.push(low + k, low + next, high + next, low + k, high + next, high + k);
    }
  }
  return { vertices, triangles };
}

function ballShape() {
  const profile = [];
  for (let k = 0; k <= 14; k++) {
    const angle = Math.PI * (k / 14 - 0.5);
    const n = [Math.cos(angle), Math.sin(angle)];
    profile.push([0.5 * n[0], 0.5 * n[1], n]);
  }
  return turnedShape(profile);
}

const cylinderShape = () => turnedShape([[0, -0.5], [0.46, -0.5], [0.5, -0.46], [0.5, 0.46], [0.46, 0.5], [0, 0.5]]);
const shaftShape = () => turnedShape([[0, 0], [0.5, 0], [0.5, 1], [0, 1]], 16); // from the origin along z
const headShape = () => turnedShape([[0, 0], [0.5, 0], [0, 1]], 20);

// The tube of one link: two rings of vertices for a round edge (walls, ends), one for an edge with corners.
// What does not change in time is made once: which vertex stands where on which section, and the triangles.
class Tube {
  constructor(run, link) {
    this.run = run;
    this.link = link;
    this.places = []; // section, y, z, and the normal in the section, for each vertex
    this.triangles = [];
    const walls = [{ edge: link.outline, points: link.points, out: 1 }];
    if (link.holePoints) walls.push({ edge: link.hole, points: link.holePoints, out: -1 });
    for (const wall of walls) this.addWall(wall);
    for (const end of [0, link.count - 1]) this.addEnd(end, walls);
    this.vertices = new Float32Array(7 * this.places.length);
  }

  addWall({ edge, points, out }) {
    const { link } = this;
    const first = this.places.length;
    for (let k = 0; k < link.count; k++) {
      for (let j = 0; j < points; j++) {
        const at = 2 * (k * points + j);
        const [y, z] = [edge[at], edge[at + 1]];
        const size = Math.hypot(y, z) || 1;
        this.places.push({ k, y, z, ny: link.round ? (out * y) / size : 0, nz: link.round ? (out * z) / size : 0 });
      }
    }
    for (let k = 0; k + 1 < link.count; k++) {
      for (let j = 0; j < points; j++) {
        const [a, b] = [first + k * points + j, first + k * points + ((j + 1) % points)];
        const [c, d] = [a + points, b + points];
        this.triangles.push(...(out > 0 ? [a, b, d, a, d, c] : [a, d, b, a, c, d]));
      }
    }
  }

  // A disc, or a ring where there is a hole.
  addEnd(k, [outer, inner]) {
    const rings = [outer, inner || { edge: null, points: outer.points }].map(({ edge, points }) => {
      const first = this.places.length;
      for (let j = 0; j < points; j++) {
        const at = 2 * (k * points + j);
        this.places.push({ k, y: edge ? edge[at] : 0, z: edge ? edge[at + 1] : 0, ny: 0, nz: 0 });
      }
      return first;
    });
    const points = outer.points;
    for (let j = 0; j < points; j++) {
      const next = (j + 1) % points;
      const [a, b, c, d] = [rings[0] + j, rings[0] + next, rings[1] + next, rings[1] + j];
      this.triangles.push(...(k === 0 ? [a, c, b, a, d, c] : [a, b, c, a, c, d]));
    }
  }

  // Position, normal and the value of a field for every vertex, from poses of sections.
  fill(poses, field) {
    const { places, vertices, link, run } = this;
    const frames = [];
    for (let k = 0; k < link.count; k++) {
      const at = 7 * (link.first + k);
      const q = poses.subarray(at + 3, at + 7);
      const value = field < 0 ? null : run.value(field, link.first + k);
      frames.push({ p: poses.subarray(at, at + 3), y: turned(q, [0, 1, 0]), z: turned(q, [0, 0, 1]), value });
    }
    let at = 0;
    for (const { k, y, z, ny, nz } of places) {
      const { p, y: ey, z: ez, value } = frames[k];
      for (let c = 0; c < 3; c++) {
        vertices[at + c] = p[c] + y * ey[c] + z * ez[c];
        vertices[at + 3 + c] = ny * ey[c] + nz * ez[c];
      }
      vertices[at + 6] = value ? value[0] + value[1] * y + value[2] * z : NO_VALUE;
      at += 7;
    }
    return vertices;
  }
}

const NO_VALUE = 1e30; // a vertex that has no number is not coloured by one

// The surface of a link of any shape: it follows its root and its tip, each vertex as far as it is given to.
class Skin {
  constructor(run, mesh) {
    this.run = run;
    this.mesh = mesh;
    this.triangles = Array.from(mesh.triangles);
    this.vertices = new Float32Array((7 * mesh.vertices.length) / 3);
  }

  fill(poses) {
    const { mesh, vertices, run } = this;
    const [p0, q0] = run.place(mesh.root, poses);
    const [p1, q1] = run.place(mesh.tip, poses);
    for (let i = 0; i < mesh.towardTip.length; i++) {
      const root = add(p0, turned(q0, mesh.vertices.subarray(3 * i, 3 * i + 3)));
      const tip = add(p1, turned(q1, mesh.fromTip.subarray(3 * i, 3 * i + 3)));
      vertices.set(add(root, scaled(sub(tip, root), mesh.towardTip[i])), 7 * i);
      vertices[7 * i + 6] = NO_VALUE;
    }
    return vertices;
  }
}
