// The controls. They change the state of the player and show it; nothing is drawn here but the legend.

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const section = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);

const GROUP_WORDS = {
  drives: "drives",
  loads: "loads",
  "joint reactions": "in joints",
  contact: "walls",
};

class Panel {
  constructor(player) {
    this.player = player;
    const place = document.getElementById("panel");
    const parts = [this.runs(), this.colour(), this.deflection(), this.shown(), this.arrows(), this.view()];
    place.append(...parts.filter(Boolean));
    this.curves = [];
    if (player.scene.runs.some((run) => run.curves.length)) {
      const own = section("Curves");
      place.append(own);
      const first = player.scene.live ? ["energy", "joint position"] : ["joint position", "tip position"];
      this.curves = first.map((name) => new Curves(own, player.scene, player, name));
    }
    document.getElementById("fold").addEventListener("click", () => this.fold());
    if (window.innerWidth < 620) document.body.classList.add("folded");
  }

  fold() {
    document.body.classList.toggle("folded");
    this.player.redraw();
  }

  check(words, name, title) {
    const { player } = this;
    const box = make("input", { type: "checkbox", name, onchange: () => player.change({ [name]: box.checked }) });
    box.checked = player.state[name];
    player.follow(() => (box.checked = player.state[name]));
    return make("label", { title }, box, make("span", {}, words));
  }

  slider(words, name, { low, high, step, to, from, write }) {
    const { player } = this;
    const told = make("output");
    const bar = make("input", { type: "range", name, min: low, max: high, step, "aria-label": words });
    bar.addEventListener("input", () => player.change({ [name]: to(Number(bar.value)) }));
    const follow = () => {
      bar.value = from(player.state[name]);
      told.textContent = write(player.state[name]);
    };
    player.follow(follow);
    follow();
    return make("div", { class: "row" }, bar, told);
  }

  runs() {
    const { scene } = this.player;
    const one = scene.oneAtATime;
    const rows = scene.runs.map((run) => {
      const box = make("input", { type: one ? "radio" : "checkbox", name: "run", value: String(run.number) });
      box.checked = run.visible;
      box.addEventListener("change", () => this.player.show(run, box.checked));
      this.player.follow(() => (box.checked = run.visible));
      const swatch = make("i", { class: "swatch" });
      this.player.follow(() => (swatch.style.background = this.player.colors.palette[run.number % this.player.colors.palette.length]));
      const mark = scene.runs.length > 1 && !one ? [swatch] : [];
      const note = run.note ? [make("p", { class: "note" }, run.note)] : [];
      return [make("label", { title: run.name }, box, ...mark, make("span", {}, run.name)), ...note];
    });
    if (rows.length === 1 && !scene.runs[0].note && !one) return null;
    return section(one ? "Modes" : "Runs", ...rows.flat());
  }

  colour() {
    const { player } = this;
    const known = player.scene.fields.map((field, k) => [field, k]).filter(([, k]) => player.has(k));
    if (!known.length) return null;
    const choices = [["plain", -1], ...known.map(([field, k]) => [field.unit === "1" ? field.name : `${field.name} [${field.unit}]`, k])];
    const select = make("select", { name: "field", "aria-label": "colour" }, ...choices.map(([name, k]) => make("option", { value: k }, name)));
    select.addEventListener("change", () => player.change({ field: Number(select.value) }));
    player.follow(() => (select.value = player.state.field));
    return section("Colour of links", select);
  }

  deflection() {
    const modes = this.player.scene.oneAtATime;
    const logarithmic = { to: (x) => Number((10 ** x).toPrecision(2)), from: Math.log10, write: (x) => `× ${short(x, 2)}` };
    const range = modes ? { low: -1, high: 1, step: 0.02 } : { low: 0, high: 3, step: 0.02 };
    return section(modes ? "Amplitude" : "Deflection", this.slider("deflection", "factor", { ...range, ...logarithmic }));
  }

  shown() {
    const ghost = this.player.scene.oneAtATime ? "state about which it swings" : "ghost of the rigid arm";
    const rows = [this.check(ghost, "ghost", "g"), this.check("trace of the tip", "trace", "t")];
    rows.push(this.check("joints and bodies", "bodies", "b"), this.check("ground", "ground", "grid of the floor"));
    return section("Show", ...rows);
  }

  arrows() {
    const { player } = this;
    const groups = Object.keys(player.state.arrows);
    if (!groups.length) return null;
    const rows = groups.map((group) => {
      const box = make("input", { type: "checkbox", name: `arrows ${group}` });
      box.addEventListener("change", () => player.change({ arrows: { ...player.state.arrows, [group]: box.checked } }));
      player.follow(() => (box.checked = player.state.arrows[group]));
      const longest = player.longest(group).map(([unitName, size]) => `${short(size)} ${unitName}`);
      const words = [GROUP_WORDS[group] || group, longest.length ? `up to ${longest.join(" and ")}` : "none"].join(", ");
      return make("label", { title: words }, box, make("span", {}, words));
    });
    const size = { low: 0.1, high: 2, step: 0.05, to: (x) => x, from: (x) => x, write: (x) => `× ${short(x / 0.5, 2)}` };
    return section("Forces and moments", ...rows, this.slider("size of arrows", "arrowSize", size));
  }

  view() {
    const { player } = this;
    const { camera } = player;
    const button = (words, action, title) => make("button", { type: "button", onclick: action, title }, words);
    const sides = make(
      "div",
      { class: "buttons" },
      button("fit", () => camera.fit(), "f, or a double click"),
      button("front", () => camera.look(-Math.PI / 2, 0), "from the front"),
      button("side", () => camera.look(0, 0), "from the side"),
      button("top", () => camera.look(-Math.PI / 2, 1.5), "from above"),
    );
    return section("View", this.check("follow the tip", "follow"), sides);
  }

  draw() {
    this.curves.forEach((curve) => curve.draw(this.player.colors));
  }
}

// Signs on buttons are drawn, since fonts differ in what they have.
const SIGNS = {
  play: "M5 3 L14 8.5 L5 14 Z",
  pause: "M4 3 H7.2 V14 H4 Z M9.8 3 H13 V14 H9.8 Z",
  back: "M3 3 H5 V14 H3 Z M14 3 V14 L6 8.5 Z",
  loop: "M8.5 3 A5.5 5.5 0 1 0 14 8.5 H12.2 A3.7 3.7 0 1 1 8.5 4.8 V7.4 L13 3.9 L8.5 0.4 Z",
};

function sign(name) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  made.setAttribute("viewBox", "0 0 17 17");
  path.setAttribute("d", SIGNS[name]);
  made.append(path);
  return made;
}

// Play, pause, scrub, speed, loop.
class Transport {
  constructor(player) {
    this.player = player;
    const place = document.getElementById("transport");
    const button = (id, icon, title, action) => make("button", { id, type: "button", title, "aria-label": title, onclick: action }, icon);
    this.play = button("play", sign("play"), "play or pause (space)", () => player.toggle());
    this.bar = make("input", { id: "scrub", type: "range", min: 0, max: 1, step: "any", "aria-label": "time" });
    this.bar.addEventListener("input", () => {
      const { start, end } = player.span;
      player.seek(start + Number(this.bar.value) * (end - start));
    });
    this.told = make("output", { id: "clock" });
    this.speed = make("select", { id: "speed", title: "speed", "aria-label": "speed" }, ...SPEEDS.map((s) => make("option", { value: s }, `${s} ×`)));
    this.speed.addEventListener("change", () => player.change({ speed: Number(this.speed.value) }));
    this.loop = button("loop", sign("loop"), "loop (l)", () => player.change({ loop: !player.state.loop }));
    const back = button("back", sign("back"), "to the start", () => player.seek(player.span.start));
    place.append(back, this.play, this.bar, this.told, this.speed, this.loop);
    player.follow(() => this.show());
  }

  show() {
    const { player } = this;
    this.play.replaceChildren(sign(player.playing ? "pause" : "play"));
    this.loop.setAttribute("aria-pressed", player.state.loop);
    this.speed.value = player.state.speed;
    this.draw();
  }

  draw() {
    const { time, span } = this.player;
    this.bar.value = (time - span.start) / (span.end - span.start || 1);
    const long = span.end - span.start;
    const digits = clamp(3 - Math.floor(Math.log10(long || 1)), 2, 7);
    this.told.textContent = `${time.toFixed(digits)} / ${span.end.toFixed(digits)} s`;
  }
}

const inSymbols = (text) =>
  text
    .replace(/gamma_(\w)/g, "γ$1")
    .replace(/kappa_(\w)/g, "κ$1")
    .replace("sqrt(sigma^2 + 3 tau^2)", "√(σ² + 3 τ²)");

// What colours mean.
function drawLegend(player) {
  const place = document.getElementById("legend");
  const { field, top } = player.state;
  place.hidden = field < 0;
  if (field < 0) return;
  const { name, unit: unitName, meaning, signed } = player.scene.fields[field];
  const { factor, unit: shown } = readable(top, unitName);
  const bar = make("canvas", { width: 256, height: 1 });
  const ink = bar.getContext("2d");
  for (let k = 0; k < 256; k++) {
    ink.fillStyle = `rgb(${along(signed ? DIVERGING : SEQUENTIAL, k / 255).map((x) => Math.round(255 * x)).join()})`;
    ink.fillRect(k, 0, 1, 1);
  }
  const ends = signed ? [-top, 0, top] : [0, top / 2, top];
  const scale = make("div", { class: "scale" }, ...ends.map((v) => make("span", {}, short(v * factor))));
  place.replaceChildren(make("b", {}, shown ? `${name} [${shown}]` : name), bar, scale, make("small", {}, `${inSymbols(meaning)}; the scale is the largest of ${player.scene.live ? "the last 20\u00a0s" : "all times"}`));
}
