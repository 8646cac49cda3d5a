// The player: a state, a clock, and the parts that draw. `window.pliant` is its door for tests and for pages around it.

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const SHORTEST = 2; // s that a run is to last on the screen
const CYCLE = 1.6; // s that a mode takes for one cycle at the speed 1
const MOST_SILENT = 0.1; // s: after a longer silence, as of a hidden page, the clock does not jump

class Player {
  constructor(scene) {
    this.scene = scene;
    this.followers = [];
    this.drawn = 0;
    this.playing = false;
    const groups = {};
    const largest = {};
    for (const run of scene.runs) {
      run.visible = !scene.oneAtATime || run === scene.runs[0];
      for (const arrow of run.arrows) {
        groups[arrow.group] = arrow.group === "loads" || arrow.group === "contact";
        arrow.key = `${arrow.group} ${arrow.unit}`;
        for (let i = 0; i < arrow.vectors.count; i++) {
          const size = norm(arrow.vectors.array.subarray(3 * i, 3 * i + 3));
          if (size > (largest[arrow.key] || 0)) largest[arrow.key] = size;
        }
      }
    }
    for (const run of scene.runs) run.arrows.forEach((arrow) => (arrow.largest = largest[arrow.key]));
    this.largestArrows = largest;
    this.state = {
      field: -1, top: 1, factor: 1, ghost: scene.runs.length === 1 || scene.oneAtATime, trace: true, ground: true,
      bodies: true, arrows: groups, arrowSize: 0.5, follow: false, speed: 1, loop: true,
    };
    this.time = this.span.start;
    this.state.speed = this.suitableSpeed();
    this.canvas = document.getElementById("picture");
    this.readColors();
    this.picture = new Picture(this.canvas, scene);
    this.labels = new Labels(document.getElementById("labels"), scene, this.picture.spacing);
    this.camera = new Camera(scene, this.canvas, () => this.redraw());
    this.panel = new Panel(this);
    this.transport = new Transport(this);
    this.camera.fit(); // now that the panel has taken its room
    this.titles();
    this.listen();
    this.sample();
    this.change({});
  }

  titles() {
    const { scene } = this;
    document.title = `${scene.title} - pliant`;
    document.getElementById("title").textContent = scene.title;
    document.getElementById("subtitle").textContent = scene.subtitle;
  }

  // Time -----------------------------------------------------------------------------------------------------------

  get span() {
    const shown = this.scene.runs.filter((run) => run.visible);
    const runs = shown.length ? shown : this.scene.runs;
    return { start: Math.min(...runs.map((run) => run.start)), end: Math.max(...runs.map((run) => run.end)) };
  }

  get duration() {
    return this.span.end - this.span.start;
  }

  // Seconds of the run in a second of the screen at speed 1; a mode takes its own time for a cycle.
  get pace() {
    return this.scene.oneAtATime ? this.duration / CYCLE : 1;
  }

  suitableSpeed() {
    const fits = SPEEDS.filter((speed) => speed <= 1 && speed * SHORTEST <= this.duration / this.pace + 1e-9);
    return this.scene.oneAtATime ? 1 : fits.length ? fits[fits.length - 1] : SPEEDS[0];
  }

  play() {
    if (this.time >= this.span.end) this.time = this.span.start;
    this.playing = true;
    this.last = undefined;
    this.tell();
    this.redraw();
  }

  pause() {
    this.playing = false;
    this.tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(time) {
    this.time = clamp(time, this.span.start, this.span.end);
    this.sample();
    this.redraw();
  }

  step(frames) {
    this.pause();
    const run = this.scene.runs.find((each) => each.visible) || this.scene.runs[0];
    const { before, part } = run.at(this.time);
    const now = before + (part > 0.5 ? 1 : 0);
    this.seek(run.time.array[clamp(now + frames, 0, run.time.count - 1)]);
  }

  tick(now) {
    if (this.playing) {
      const passed = this.last === undefined ? 0 : Math.min((now - this.last) / 1000, MOST_SILENT);
      this.last = now;
      const { start, end } = this.span;
      this.time += passed * this.state.speed * this.pace;
      if (this.time >= end) {
        if (this.state.loop && end > start) this.time = start + ((this.time - start) % (end - start));
        else {
          this.time = end;
          this.pause();
        }
      }
      this.sample();
    }
    this.draw();
  }

  // State ----------------------------------------------------------------------------------------------------------

  follow(action) {
    this.followers.push(action);
  }

  tell() {
    this.followers.forEach((action) => action());
  }

  has(field) {
    return this.scene.runs.some((run) => run.values[field].scale.some((scale) => scale > 0));
  }

  // Units and largest sizes of the arrows of a group, over all times.
  longest(group) {
    const known = Object.entries(this.largestArrows).filter(([key]) => key.startsWith(`${group} `));
    return known.map(([key, size]) => [key.slice(group.length + 1), size]);
  }

  change(part) {
    Object.assign(this.state, part);
    const { field } = this.state;
    if (field >= 0) {
      const shown = this.scene.runs.filter((run) => run.visible);
      this.state.top = Math.max(1e-30, ...shown.map((run) => run.largest(field)));
    }
    if (part.follow) this.followed = this.tip();
    this.sample();
    drawLegend(this);
    this.tell();
    this.redraw();
  }

  show(run, visible) {
    if (this.scene.oneAtATime) {
      const part = (this.time - this.span.start) / (this.duration || 1);
      this.scene.runs.forEach((each) => (each.visible = each === run));
      this.time = this.span.start + part * this.duration;
    } else run.visible = visible;
    this.time = clamp(this.time, this.span.start, this.span.end);
    this.change({});
  }

  // Where the tip of a run is drawn.
  tip(number = this.scene.runs.findIndex((run) => run.visible)) {
    const run = this.scene.runs[Math.max(0, number)];
    return Array.from(run.place(run.tip)[0]);
  }

  sample() {
    for (const run of this.scene.runs) if (run.visible) run.sample(this.time, this.state.factor);
    if (this.state.follow && this.followed && this.camera) {
      const now = this.tip();
      this.camera.target = add(this.camera.target, sub(now, this.followed));
      this.followed = now;
    }
  }

  // Drawing --------------------------------------------------------------------------------------------------------

  readColors() {
    const style = getComputedStyle(document.documentElement);
    const names = ["ink", "quiet", "rule", "grid", "base", "body", "joint", "loopjoint", "payload", "wall", "plain", "ghost", "trace", "line", "force", "moment"];
    this.colors = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.colors.palette = style.getPropertyValue("--palette").trim().split(/\s+/);
  }

  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      this.tick(now);
      if (this.playing) this.redraw();
    });
  }

  // For those who look at the picture from outside: done when what was asked for is on the screen.
  afterDrawing() {
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(this.drawn))));
  }

  draw() {
    this.picture.draw(this.state, this.camera, this.colors);
    this.labels.draw(this.camera, this.picture.camera, this.colors, this.state.ground);
    this.transport.draw();
    this.panel.draw();
    this.drawn += 1;
  }

  listen() {
    window.addEventListener("resize", () => this.redraw());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.readColors();
      this.change({});
    });
    const keys = {
      " ": () => this.toggle(),
      ArrowLeft: (event) => this.step(event.shiftKey ? -10 : -1),
      ArrowRight: (event) => this.step(event.shiftKey ? 10 : 1),
      Home: () => this.seek(this.span.start),
      End: () => this.seek(this.span.end),
      l: () => this.change({ loop: !this.state.loop }),
      g: () => this.change({ ghost: !this.state.ghost }),
      t: () => this.change({ trace: !this.state.trace }),
      b: () => this.change({ bodies: !this.state.bodies }),
      f: () => this.camera.fit(),
      p: () => this.panel.fold(),
    };
    window.addEventListener("keydown", (event) => {
      const typing = ["SELECT", "INPUT"].includes(event.target.tagName) && event.target.type !== "checkbox";
      const action = keys[event.key];
      if (!action || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && event.target.tagName === "BUTTON") return; // which the key presses by itself
      event.preventDefault();
      action(event);
    });
  }
}

const message = document.getElementById("message");
window.pliant = {
  ready: loadScene()
    .then((scene) => {
      const player = scene.live ? new LivePlayer(scene) : new Player(scene);
      message.hidden = true;
      player.opened = performance.now() / 1000; // s since the page was asked for
      window.pliant = Object.assign(player, { ready: Promise.resolve(player) });
      if (!window.matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
      return player;
    })
    .catch((error) => {
      message.textContent = `The arm cannot be shown: ${error.message}`;
      throw error;
    }),
};
