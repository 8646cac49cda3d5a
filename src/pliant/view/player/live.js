// A run that goes on while it is watched: frames arrive in a stream, and what the user does is sent as commands.

const KEPT = 600; // frames, twenty seconds
const TRACED = 90; // frames of the path of the tip
const DROPPED = 60; // at once, when there are more
const GAIN_DECADES = 4; // of the slider of a gain; its lower end is zero
const LEGEND_EVERY = 15; // frames between two looks at the largest value of a field
const AXES = { "−x": [-1, 0, 0], "+x": [1, 0, 0], "−y": [0, -1, 0], "+y": [0, 1, 0], "−z": [0, 0, -1], "+z": [0, 0, 1] };

// Messages from a stream of bytes, each behind its length.
async function* messages(reader) {
  let held = new Uint8Array(0);
  for (;;) {
    while (held.length >= 4) {
      const length = new DataView(held.buffer, held.byteOffset).getUint32(0, true);
      if (held.length < 4 + length) break;
      yield held.slice(4, 4 + length).buffer;
      held = held.subarray(4 + length);
    }
    const { done, value } = await reader.read();
    if (done) return;
    const joined = new Uint8Array(held.length + value.length);
    joined.set(held);
    joined.set(value, held.length);
    held = joined;
  }
}

// The next frame of a run; the oldest ones go when there are too many.
function append(run, frame, array) {
  const pairs = [["time", run.time], ["position", run.position], ["rotation", run.rotation]];
  pairs.push(["rootPosition", run.rootPosition], ["rootRotation", run.rootRotation]);
  const all = pairs.map(([name, series]) => [series, frame[name]]);
  run.values.forEach((value, k) => all.push([value.series, frame.fields[k]]));
  run.arrows.forEach((arrow, k) => all.push([arrow.vectors, frame.arrows[k]]));
  run.curves.forEach((curve, k) => all.push([curve.values, frame.curves[k]]));
  const full = run.time.count >= KEPT;
  for (const [series, ref] of all) {
    if (full) {
      series.array.copyWithin(0, DROPPED * series.perFrame, series.count * series.perFrame);
      series.count -= DROPPED;
    }
    series.append(array(ref));
  }
}

// Fields as plain numbers, since nobody knows yet how large they will be.
function openFields(run) {
  for (const value of run.values) {
    const size = value.series.perFrame;
    value.series = new Series(new Float32Array(size).fill(NOTHING), size);
    value.scale = value.scale.map(() => 1);
  }
  run.traced = TRACED;
  return run;
}

class LivePlayer extends Player {
  constructor(scene) {
    scene.runs.forEach(openFields);
    super(scene);
    document.body.classList.add("live");
    this.status = scene.live;
    this.frames = 0;
    this.controls = new Controls(this);
    this.transport = new LiveTransport(this);
    this.change({ trace: true, ghost: true });
    this.heard();
    this.listenToStream();
  }

  get run() {
    return this.scene.runs[0];
  }

  titles() {
    super.titles();
    document.title = `${this.scene.title}, live - pliant`;
  }

  longest() {
    return [["N", this.scene.live.push.highest]];
  }

  // Time is that of the newest frame.
  play() {}

  pause() {}

  seek() {}

  step() {}

  toggle() {
    this.send({ do: "pause", value: !this.status.paused });
  }

  tick() {
    this.time = this.run.end;
    this.sample();
    this.draw();
  }

  async send(wish) {
    try {
      const headers = { "Content-Type": "application/json", "X-Pliant-Token": this.scene.live.token };
      const answer = await fetch("command", { method: "POST", headers, body: JSON.stringify(wish) });
      this.complain(answer.ok ? "" : await answer.text());
      return answer.ok;
    } catch {
      this.complain("the program does not answer");
      return false;
    }
  }

  complain(sentence) {
    const place = document.getElementById("message");
    place.hidden = !sentence;
    place.textContent = sentence;
  }

  async listenToStream() {
    try {
      const answer = await fetch("frames");
      if (!answer.ok) throw new Error(await answer.text());
      for await (const bytes of messages(answer.body.getReader())) await this.hear(bytes);
      this.end("The program has ended.");
    } catch (error) {
      this.end(`The program has ended: ${error.message}.`);
    }
  }

  end(sentence) {
    this.ended = true;
    this.complain(sentence);
    this.heard();
  }

  async hear(bytes) {
    const head = new DataView(bytes).getUint32(0, true);
    const told = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, head)));
    const array = (ref) => new TYPES[ref.type](bytes, 4 + head + ref.at, ref.shape.reduce((a, b) => a * b, 1));
    if (told.epoch !== this.status.epoch) await this.begin();
    if (told.epoch === this.scene.live.epoch && told.frame) {
      if (told.time > this.run.end || this.frames === 0) append(this.run, told.frame, array);
      this.frames += 1;
      for (const arrow of this.run.arrows) {
        const last = arrow.vectors.array.subarray(3 * (arrow.vectors.count - 1), 3 * arrow.vectors.count);
        arrow.largest = Math.max(arrow.largest || 0, norm(last));
      }
      this.measure();
    }
    this.status = told;
    this.heard();
    this.redraw();
  }

  heard() {
    this.controls.show(this.status);
    this.transport.show();
    document.getElementById("subtitle").textContent = `${this.status.formulation}, live`;
  }

  measure() {
    if (this.state.field < 0 || this.frames % LEGEND_EVERY) return;
    this.run.values.forEach((value) => (value.largest = undefined));
    this.change({});
  }

  // Another formulation, or another start: the arm is drawn anew, and the eye stays where it is.
  async begin() {
    const scene = await loadScene();
    scene.runs.forEach(openFields);
    Object.assign(this.scene, { runs: scene.runs, live: scene.live });
    const { picture } = this;
    picture.tubes = new Map(scene.runs.map((run) => [run, picture.tubesOf(run)]));
    picture.traces = new Map();
    this.frames = 0;
    this.change({});
  }
}

// Targets, gains, pushes, the formulation and the ledger.
class Controls {
  constructor(player) {
    this.player = player;
    this.followers = [];
    const place = document.getElementById("panel");
    const shown = [...place.children];
    const curves = player.panel.curves.length ? [shown.pop()] : [];
    const more = make("details", { class: "more" }, make("summary", {}, "Picture"), ...shown);
    place.replaceChildren(this.formulation(), this.joints(), this.pushes(), this.ledger(), ...curves, more);
  }

  show(status) {
    this.followers.forEach((action) => action(status));
  }

  formulation() {
    const { player } = this;
    const select = make("select", { name: "formulation", "aria-label": "formulation" });
    for (const [name, refusal] of Object.entries(player.status.formulations)) {
      select.append(make("option", { value: name, disabled: Boolean(refusal), title: refusal }, refusal ? `${name} – refused` : name));
    }
    let wanted = null; // until the program has changed to it, which may take a compiler
    select.addEventListener("change", async () => {
      wanted = select.value;
      if (!(await player.send({ do: "formulation", value: wanted }))) wanted = null;
    });
    const why = Object.entries(player.status.formulations).filter(([, refusal]) => refusal);
    const reasons = why.map(([name, refusal]) => make("p", { class: "hint" }, make("b", {}, `${name}: `), refusal));
    const refused = reasons.length ? [make("details", {}, make("summary", {}, `${reasons.length} refused, and why`), ...reasons)] : [];
    const method = make("p", { class: "hint", id: "method" });
    const note = make("p", { class: "hint", id: "note" });
    this.followers.push((status) => {
      if (status.formulation === wanted) wanted = null;
      select.value = wanted || status.formulation;
      method.textContent = status.method;
      note.textContent = wanted ? `changing to ${wanted} …` : status.note;
      note.hidden = !note.textContent;
    });
    return section("Formulation", select, method, note, ...refused);
  }

  // A slider that shows what the program holds, except while it is being moved.
  bar({ name, label, low, high, to, from, value, write, send }) {
    const told = make("output");
    const bar = make("input", { type: "range", name, "aria-label": label, title: label, min: low, max: high, step: "any" });
    let [held, waiting, busy] = [false, null, false];
    const flush = async () => {
      while (waiting !== null) {
        const wish = waiting;
        waiting = null;
        busy = true;
        await this.player.send(send(wish));
        busy = false;
      }
    };
    bar.addEventListener("input", () => {
      held = true;
      waiting = to(Number(bar.value));
      told.textContent = write(waiting);
      if (send && !busy) flush();
    });
    bar.addEventListener("change", () => setTimeout(() => (held = false), 300));
    this.followers.push((status) => {
      if (held) return;
      bar.value = from(value(status));
      told.textContent = write(value(status));
    });
    return make("div", { class: "row" }, make("span", { class: "what" }, label), bar, told);
  }

  joints() {
    const { joints, exact } = this.player.status;
    if (!joints.length) return section("Joints", make("p", { class: "hint" }, "no joint is left to drive"));
    const blocks = joints.map((joint, k) => {
      const now = make("output");
      this.followers.push((status) => (now.textContent = `${short(status.joints[k].position, 3)} ${joint.unit}`));
      const target = this.bar({
        name: `target ${joint.name}`, label: "target", low: joint.low, high: joint.high, to: (x) => x, from: (x) => x,
        value: (status) => status.joints[k].target, write: (x) => `${x.toFixed(2)} ${joint.unit}`,
        send: (x) => ({ do: "target", joint: joint.name, value: x }),
      });
      const units = joint.unit === "m" ? ["N/m", "N s/m"] : ["N m/rad", "N m s/rad"];
      const gains = ["stiffness", "damping"].map((what, i) => {
        const most = joint[`highest_${what}`];
        const least = most * 10 ** -GAIN_DECADES;
        return this.bar({
          name: `${what} ${joint.name}`, label: what, low: 0, high: 1,
          to: (x) => (x < 0.01 ? 0 : Math.min(most, Number((least * 10 ** (GAIN_DECADES * x)).toPrecision(3)))),
          from: (x) => (x > 0 ? Math.log10(x / least) / GAIN_DECADES : 0),
          value: (status) => status.joints[k][what], write: (x) => `${short(x, 3)} ${units[i]}`,
          send: (x) => ({ do: what, joint: joint.name, value: x }),
        });
      });
      const words = make("summary");
      this.followers.push((status) => (words.textContent = status.joints[k].stiffness || status.joints[k].damping ? "gains" : "gains: none, the joint is free"));
      const more = make("details", {}, words, ...gains);
      if (joints.length === 1) more.open = true;
      this.followers.push((status) => (more.hidden = status.exact));
      return make("div", { class: "joint" }, make("div", { class: "row head" }, make("b", {}, joint.name), now), target, more);
    });
    const hint = make("p", { class: "hint" }, "Some joint moves no mass of its own, which torques could not drive: joints follow their targets exactly.");
    hint.hidden = !exact;
    this.followers.push((status) => (hint.hidden = !status.exact));
    return section("Joints", ...blocks, hint);
  }

  pushes() {
    const { push } = this.player.status;
    let { force } = push;
    const least = push.highest / 400;
    const size = this.bar({
      name: "force", label: "force", low: 0, high: 1, to: (x) => Number((least * 400 ** x).toPrecision(2)),
      from: (x) => Math.log(Math.max(x, least) / least) / Math.log(400), value: () => force,
      write: (x) => `${short((force = Math.min(x, push.highest)), 3)} N`, send: null,
    });
    const buttons = Object.entries(AXES).map(([name, direction]) =>
      make("button", { type: "button", name: `push ${name}`, title: `push the tip along ${name}`, onclick: () => this.player.send({ do: "push", direction, force }) }, name),
    );
    return section("Push the tip", size, make("div", { class: "buttons pushes" }, ...buttons));
  }

  ledger() {
    const table = make("table", { id: "ledger" });
    this.followers.push(({ ledger, exchanged }) => {
      const largest = Math.max(...Object.values(ledger).map(Math.abs), 1e-30);
      const rows = Object.entries(ledger).map(([name, value]) => {
        const seen = Math.abs(value) > 1e-9 * largest || name === "residual" ? value : 0;
        return make("tr", { class: name === "residual" ? "last" : "" }, make("td", {}, name), make("td", {}, `${joules(seen)} J`));
      });
      const part = exchanged > 0 ? Math.abs(ledger.residual) / exchanged : 0;
      rows.push(make("tr", {}, make("td", { colspan: 2, class: "quiet" }, `the residual is ${part ? part.toExponential(0) : "0"} of the energy exchanged`)));
      table.replaceChildren(...rows);
    });
    return section("Energy ledger", table);
  }
}

function joules(value) {
  if (value === 0) return "0";
  return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? value.toPrecision(4) : value.toExponential(1);
}

// Pause, reset, the clock, and whether real time is kept.
class LiveTransport {
  constructor(player) {
    this.player = player;
    const button = (id, icon, title, action) => make("button", { id, type: "button", title, "aria-label": title, onclick: action }, icon);
    this.play = button("play", sign("pause"), "pause or go on (space)", () => player.toggle());
    const reset = button("reset", sign("back"), "to the start", () => player.send({ do: "reset" }));
    this.clock = make("output", { id: "clock" });
    this.told = make("span", { id: "pace" });
    this.lost = make("span", { class: "hint" });
    this.failed = make("span", { id: "failed" });
    document.getElementById("transport").replaceChildren(reset, this.play, this.clock, this.told, this.lost, this.failed);
  }

  show() {
    const { status, ended } = this.player;
    const { paused, failed, kept, speed, behind, lost, load } = status;
    this.play.replaceChildren(sign(paused || failed ? "play" : "pause"));
    this.clock.textContent = `${status.time.toFixed(2)} s`;
    const word = ended ? "ended" : failed ? "stopped" : paused ? "paused" : kept ? "real time" : "behind";
    this.told.className = word.replace(" ", "-");
    const late = `behind by ${(behind + lost).toFixed(2)} s, runs at ${speed.toFixed(2)} ×`;
    const early = `real time, ${Math.round(100 * load)} % of a core`;
    this.told.textContent = word === "behind" ? late : word === "real time" ? early : word;
    this.lost.textContent = word === "real time" && lost > 0.05 ? `${lost.toFixed(2)} s lost since the start` : "";
    this.failed.textContent = failed ? `${failed} – choose another formulation or gain, and reset` : "";
  }

  draw() {}
}
