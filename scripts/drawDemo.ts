/**
 * `npm run demo | node scripts/drawDemo.ts` writes docs/demo.svg, the README's picture: the demo's own output until its
 * first table ends, as text on a terminal.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"

const size = { character: 7.8, line: 18, margin: 16 }
const widest = 104
const color = { text: "#c9d1d9", dim: "#8b949e", green: "#3fb950", yellow: "#d29922", back: "#0d1117" }

/** Hashes and ids are of one run; a reader needs their begin. */
const shortened = (line: string) => line.replaceAll(/0x[0-9a-fA-F]{16,}/gu, (hash) => `${hash.slice(0, 10)}…`)

/** Finds the lines from the first heading to the total below the first table. */
export const shownLines = (output: string): ReadonlyArray<string> => {
  const lines = stripVTControlCharacters(output)
    .split("\n")
    .map((line) => shortened(line).trimEnd())
  const first = lines.findIndex((line) => line === "Enroll")
  const last = lines.findIndex((line, index) => index > first && /^ {2}total \$/u.test(line))
  if (first === -1 || last === -1) throw new Error("this is no output of a demo that went to its first table")
  const shown = lines.slice(first, last + 1)
  const wide = shown.find((line) => line.length > widest)
  if (wide !== undefined) throw new Error(`this line is wider than the picture: ${wide}`)
  return shown
}

/** Spaces beside each other are ones that stay. */
const escaped = (text: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/^ | {2,}/gu, (spaces) => "\u00a0".repeat(spaces.length))

const colored = (line: string) =>
  escaped(line)
    .replaceAll(/✓|on target$/gu, (found) => `<tspan fill="${color.green}">${found}</tspan>`)
    .replace(/off target$/u, (found) => `<tspan fill="${color.yellow}">${found}</tspan>`)

const drawn = (line: string, index: number) => {
  const y = size.margin + (index + 0.75) * size.line
  const fill = /^ {2}(?:chain|total)/u.test(line) ? ` fill="${color.dim}"` : ""
  const weight = /^\S/u.test(line) ? ' font-weight="bold"' : ""
  return line === "" ? [] : [`<text x="${size.margin}" y="${y}"${fill}${weight}>${colored(line)}</text>`]
}

export const drawDemo = (output: string): string => {
  const lines = shownLines(output)
  const width = Math.ceil(widest * size.character + 2 * size.margin)
  const height = lines.length * size.line + 2 * size.margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" fill="${color.text}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${color.back}"/>`,
    ...lines.flatMap(drawn),
    "</svg>",
    ""
  ].join("\n")
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL("../docs/demo.svg", import.meta.url), drawDemo(readFileSync(0, "utf8")))
