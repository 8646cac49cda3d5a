// Curves over time, in step with the motion: a click or a drag on a curve is a jump to that time.

const MARGIN = { left: 46, right: 8, top: 8, bottom: 20 };

class Curves {
  constructor(place, scene, player, chosen) {
    this.scene = scene;
    this.player = player;
    this.canvas = make("canvas");
    this.still = make("canvas");
    this.keys = make("div", { class: "keys" });
    const groups = [...new Set(scene.runs.flatMap((run) => run.curves.map((curve) => `${curve.group} [${curve.unit}]`)))];
    this.choice = make("select", { "aria-label": "curve" }, ...groups.map((name) => make("option", { value: name }, name)));
    this.choice.value = groups.find((name) => name.startsWith(chosen)) || groups[0];
    this.choice.addEventListener("change", () => player.change({}));
    place.append(make("div", { class: "curve" }, this.choice, this.canvas, this.keys));
    this.listen();
  }

  listen() {
    const jump = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const part = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
      const { start, end } = this.player.span;
      this.player.seek(start + clamp(part, 0, 1) * (end - start));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      jump(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && jump(event));
  }

  // What is drawn: one colour a curve, or of several runs one a run, with dashes that tell curves apart.
  chosen(colors) {
    const runs = this.scene.runs.filter((run) => run.visible);
    const lines = [];
    for (const run of runs) {
      const own = run.curves.filter((curve) => `${curve.group} [${curve.unit}]` === this.choice.value);
      own.forEach((curve, k) => {
        const color = colors.palette[(runs.length > 1 ? run.number : k) % colors.palette.length];
        lines.push({ run, curve, color, dash: runs.length > 1 ? [[], [5, 3], [2, 3], [8, 3, 2, 3]][k % 4] : [] });
      });
    }
    return lines;
  }

  draw(colors) {
    const { canvas } = this;
    const sharp = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    const wanted = [Math.round(width * sharp), Math.round(height * sharp)];
    if (canvas.width !== wanted[0] || canvas.height !== wanted[1]) [canvas.width, canvas.height] = wanted;
    const lines = this.chosen(colors);
    const { start, end } = this.player.span;
    const [low, high] = extent(lines);
    const toX = (t) => MARGIN.left + ((t - start) / (end - start || 1)) * (width - MARGIN.left - MARGIN.right);
    const toY = (v) => height - MARGIN.bottom - ((v - low) / (high - low)) * (height - MARGIN.top - MARGIN.bottom);
    const plot = { width, height, sharp, start, end, low, high };
    this.keep(lines, colors, plot, toX, toY);
    const ink = canvas.getContext("2d");
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.clearRect(0, 0, canvas.width, canvas.height);
    ink.drawImage(this.still, 0, 0);
    ink.setTransform(sharp, 0, 0, sharp, 0, 0);
    const now = toX(this.player.time);
    ink.strokeStyle = colors.ink;
    ink.lineWidth = 1;
    ink.beginPath();
    ink.moveTo(now, MARGIN.top);
    ink.lineTo(now, height - MARGIN.bottom);
    ink.stroke();
    for (const { run, curve, color } of lines) {
      ink.fillStyle = color;
      ink.beginPath();
      ink.arc(now, toY(run.between(curve.values, 0)), 2.6, 0, 7);
      ink.fill();
    }
    this.tell(lines);
  }

  // All that stays while time goes on is drawn once: thousands of points take long where no graphics card helps.
  keep(lines, colors, plot, toX, toY) {
    const known = lines.map(({ run, curve, color, dash }) => {
      const last = run.time.count - 1;
      const ends = [run.time.array[0], run.time.array[last], curve.values.array[0], curve.values.array[last]];
      return [run.number, curve.group, curve.name, color, dash, last, ends];
    });
    const key = JSON.stringify([plot, colors.quiet, colors.rule, known]);
    if (key === this.key) return;
    this.key = key;
    this.still.width = this.canvas.width;
    this.still.height = this.canvas.height;
    const ink = this.still.getContext("2d");
    ink.setTransform(plot.sharp, 0, 0, plot.sharp, 0, 0);
    this.frame(ink, colors, { ...plot, toX, toY });
    ink.lineWidth = 1.4;
    ink.lineJoin = "round";
    for (const { run, curve, color, dash } of lines) {
      ink.strokeStyle = color;
      ink.setLineDash(dash);
      ink.beginPath();
      for (const i of lowestAndHighest(curve.values, plot.width)) ink.lineTo(toX(run.time.array[i]), toY(curve.values.array[i]));
      ink.stroke();
    }
  }

  frame(ink, colors, { width, height, start, end, low, high, toX, toY }) {
    ink.font = "10.5px system-ui, sans-serif";
    ink.lineWidth = 1;
    ink.fillStyle = colors.quiet;
    ink.strokeStyle = colors.rule;
    ink.textBaseline = "middle";
    ink.textAlign = "right";
    for (const v of ticks(low, high, 4)) {
      ink.beginPath();
      ink.moveTo(MARGIN.left, toY(v));
      ink.lineTo(width - MARGIN.right, toY(v));
      ink.stroke();
      ink.fillText(short(v, 3), MARGIN.left - 6, toY(v));
    }
    ink.textAlign = "center";
    for (const t of ticks(start, end, 5)) {
      if (toX(t) < width - 34) ink.fillText(short(t, 3), toX(t), height - MARGIN.bottom + 11);
    }
    ink.textAlign = "right";
    ink.fillText("t [s]", width - 2, height - MARGIN.bottom + 11);
  }

  // Names and present values.
  tell(lines) {
    const several = new Set(lines.map(({ run }) => run)).size > 1;
    this.keys.replaceChildren(
      ...lines.slice(0, 12).map(({ run, curve, color, dash }) => {
        const mark = make("i");
        mark.style.borderTopColor = color;
        if (dash.length) mark.style.borderTopStyle = "dashed";
        const name = several ? `${run.name}: ${curve.name}` : curve.name;
        return make("span", { title: name }, mark, `${name} ${short(run.between(curve.values, 0), 4)}`);
      }),
    );
  }
}

// Which points of a curve are drawn: all, or where there are several to a pixel the lowest and highest of them.
function lowestAndHighest({ array, count }, width) {
  const each = Math.max(1, Math.floor(count / (2 * width)));
  const found = [];
  for (let from = 0; from < count; from += each) {
    let [low, high] = [from, from];
    for (let i = from + 1; i < Math.min(from + each, count); i++) {
      if (array[i] < array[low]) low = i;
      if (array[i] > array[high]) high = i;
    }
    found.push(Math.min(low, high));
    if (low !== high) found.push(Math.max(low, high));
  }
  if (found[found.length - 1] !== count - 1) found.push(count - 1);
  return found;
}

function extent(lines) {
  let [low, high] = [Infinity, -Infinity];
  for (const { curve } of lines) {
    if (curve.extent === undefined || curve.extent.count !== curve.values.count) {
      let [least, most] = [Infinity, -Infinity];
      for (let i = 0; i < curve.values.count; i++) {
        const v = curve.values.array[i];
        if (v < least) least = v;
        if (v > most) most = v;
      }
      curve.extent = { least, most, count: curve.values.count };
    }
    low = Math.min(low, curve.extent.least);
    high = Math.max(high, curve.extent.most);
  }
  if (!(high > low)) return Number.isFinite(low) ? [low - 1, low + 1] : [0, 1];
  const room = 0.06 * (high - low);
  return [low - room, high + room];
}

// Round numbers between two others.
function ticks(low, high, about) {
  const step = roundLength((high - low) / about);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) found.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return found;
}
