// What the graphics card runs. One program draws all surfaces; with `flat` set it draws their shadows on the ground.

const SURFACE_VERTEX = `#version 300 es
in vec3 position;
in vec3 normal;
in float value;
uniform mat4 camera;
uniform vec3 place;
uniform vec4 turn;  // quaternion (w, x, y, z)
uniform vec3 size;
uniform vec4 ground;  // direction up, height of the floor along it
uniform bool flat_;
out vec3 world;
out vec3 across;
out float shown;

vec3 turned(vec3 v) {
  vec3 t = 2.0 * cross(turn.yzw, v);
  return v + turn.x * t + cross(turn.yzw, t);
}

void main() {
  world = place + turned(position * size);
  across = dot(normal, normal) > 0.01 ? turned(normal / size) : vec3(0.0);
  if (flat_) world -= ground.xyz * (dot(world, ground.xyz) - ground.w);
  shown = value;
  gl_Position = camera * vec4(world, 1.0);
}`;

const SURFACE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 world;
in vec3 across;
in float shown;
uniform vec3 eye;
uniform vec3 above;
uniform vec4 color;
uniform bool flat_;
uniform bool coloured;
uniform vec2 range;  // of the field, from colour 0 to colour 1
uniform float map;  // which row of the texture
uniform sampler2D maps;
out vec4 made;

void main() {
  if (flat_) {
    made = color;
    return;
  }
  vec3 toEye = normalize(eye - world);
  vec3 n = dot(across, across) > 0.01 ? normalize(across) : normalize(cross(dFdx(world), dFdy(world)));
  if (dot(n, toEye) < 0.0) n = -n;
  vec3 base = color.rgb;
  if (coloured && shown < 1e29) {
    float part = clamp((shown - range.x) / (range.y - range.x), 0.002, 0.998);
    base = texture(maps, vec2(part, map)).rgb;
  }
  vec3 side = normalize(cross(above, toEye) + vec3(1e-5));
  vec3 key = normalize(0.75 * above + 0.55 * toEye - 0.5 * side);
  float sky = 0.5 + 0.5 * dot(n, above);
  float light = 0.6 + 0.22 * sky + 0.4 * max(dot(n, key), 0.0);
  if (coloured) light *= 0.86;  // colours are to be those of the legend
  vec3 half_ = normalize(key + toEye);
  float gloss = coloured ? 0.08 : 0.16;
  float shine = gloss * pow(max(dot(n, half_), 0.0), 42.0);
  float edge = 0.1 * pow(1.0 - max(dot(n, toEye), 0.0), 3.0);
  made = vec4((base * light + shine + edge) * color.a, color.a);
}`;

const GROUND_VERTEX = `#version 300 es
in vec2 corner;
uniform mat4 camera;
uniform vec3 middle;
uniform vec3 east;
uniform vec3 north;
uniform float extent;
out vec2 at;

void main() {
  vec2 from = corner * extent;
  vec3 world = middle + from.x * east + from.y * north;
  at = vec2(dot(world, east), dot(world, north));
  gl_Position = camera * vec4(world, 1.0);
}`;

const GROUND_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
uniform vec2 origin;  // of the fading
uniform float fade;
uniform float spacing;
uniform vec4 color;
out vec4 made;

float line(vec2 x, float width) {
  vec2 wide = fwidth(x);
  vec2 away = abs(fract(x - 0.5) - 0.5) / max(wide, vec2(1e-6));
  vec2 drawn = (1.0 - smoothstep(0.5 * width, 0.5 * width + 1.0, away)) * (1.0 - smoothstep(0.3, 0.8, wide));
  return max(drawn.x, drawn.y);
}

void main() {
  float strength = max(0.3 * line(at / spacing, 0.4), 0.75 * line(at / (5.0 * spacing), 0.7));
  float near = 1.0 - smoothstep(0.25 * fade, fade, distance(at, origin));
  float alpha = color.a * strength * near;
  made = vec4(color.rgb * alpha, alpha);
}`;

const LINE_VERTEX = `#version 300 es
in vec2 corner;  // 0 or 1 along, -1 or 1 across
in vec3 first;
in vec3 second;
uniform mat4 camera;
uniform vec2 pixels;
uniform float width;

void main() {
  vec4 a = camera * vec4(first, 1.0);
  vec4 b = camera * vec4(second, 1.0);
  vec2 along = (b.xy / b.w - a.xy / a.w) * pixels;
  along = dot(along, along) > 1e-9 ? normalize(along) : vec2(1.0, 0.0);
  vec4 here = mix(a, b, corner.x);
  vec2 side = vec2(-along.y, along.x) * corner.y * width + along * (corner.x - 0.5) * width;
  gl_Position = vec4(here.xy + side / pixels * here.w, here.zw);
}`;

const LINE_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 color;
out vec4 made;

void main() {
  made = vec4(color.rgb * color.a, color.a);
}`;

// A program with its attributes at fixed places, and setters for its uniforms by name.
class Program {
  constructor(gl, vertex, fragment, attributes) {
    this.gl = gl;
    const made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    attributes.forEach((name, place) => gl.bindAttribLocation(made, place, name));
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    this.made = made;
    this.places = {};
    const count = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k++) {
      const { name, type } = gl.getActiveUniform(made, k);
      this.places[name] = { at: gl.getUniformLocation(made, name), type };
    }
  }

  use(values) {
    this.gl.useProgram(this.made);
    this.set(values);
    return this;
  }

  set(values) {
    const { gl } = this;
    for (const [name, value] of Object.entries(values)) {
      const { at, type } = this.places[name] || {};
      if (at === undefined) continue;
      if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(at, false, value);
      else if (type === gl.FLOAT_VEC4) gl.uniform4fv(at, value);
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(at, value);
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(at, value);
      else if (type === gl.FLOAT) gl.uniform1f(at, value);
      else gl.uniform1i(at, value);
    }
  }
}
