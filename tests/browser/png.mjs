// Makes a picture of a page small: 256 colours instead of 16 million, which is what a page has to the eye.

import { crc32, deflateSync, inflateSync } from "node:zlib";

const HEAD = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
const COLOURS = 256;

/** Reads what a browser writes: 8 bits for each channel, RGB or RGBA, not interlaced. */
function decode(png) {
  const parts = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = HEAD.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const kind = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") [width, height, channels] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (kind === "IDAT") parts.push(body);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x >= channels ? pixels[y * stride + x - channels] : 0;
      const up = y ? pixels[(y - 1) * stride + x] : 0;
      const corner = y && x >= channels ? pixels[(y - 1) * stride + x - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[y * stride + x] = raw[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return { width, height, channels, pixels };
}

function paeth(left, up, corner) {
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(left + up - corner - value));
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** Chooses the colours: those that are used most, then those that lie farthest from all that are chosen. */
function choose(counts) {
  const sorted = [...counts].sort((left, right) => right[1] - left[1]).map(([colour]) => colour);
  const chosen = sorted.slice(0, COLOURS / 2);
  const rest = sorted.slice(COLOURS / 2).map((colour) => ({ colour, far: Math.min(...chosen.map((it) => distance(it, colour))) }));
  while (chosen.length < COLOURS && rest.length) {
    const [next] = rest.splice(rest.reduce((best, it, at) => (it.far > rest[best].far ? at : best), 0), 1);
    chosen.push(next.colour);
    for (const it of rest) it.far = Math.min(it.far, distance(next.colour, it.colour));
  }
  return chosen;
}

const channelsOf = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];

function distance(left, right) {
  const [a, b] = [channelsOf(left), channelsOf(right)];
  return (a[0] - b[0]) ** 2 * 3 + (a[1] - b[1]) ** 2 * 6 + (a[2] - b[2]) ** 2;
}

function chunk(kind, body) {
  const named = Buffer.concat([Buffer.from(kind), body]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(body.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

/** Returns the same picture in 256 colours. */
export function small(png) {
  const { width, height, channels, pixels } = decode(png);
  const counts = new Map();
  const colourAt = (at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  for (let at = 0; at < pixels.length; at += channels) {
    const colour = colourAt(at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choose(counts);
  const nearest = new Map();
  for (const colour of counts.keys()) {
    let best = 0;
    palette.forEach((it, index) => {
      if (distance(it, colour) < distance(palette[best], colour)) best = index;
    });
    nearest.set(colour, best);
  }
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = nearest.get(colourAt((y * width + x) * channels));
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap(channelsOf));
  return Buffer.concat([HEAD, chunk("IHDR", size), chunk("PLTE", table), chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
