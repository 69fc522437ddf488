/**
 * `npm run house`: how big the house is, by numbers that a reader can compare with those of another day. Nothing here
 * fails; what is held is in `test/`.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type Arrows, ownImports, partsOf, reachedFrom, roomsOf, root, type Source, sources } from "#test/sources.ts"
import { contexts } from "#test/rooms.ts"
import { ownWordIn } from "#scripts/ownWords.ts"

const linesIn = (files: ReadonlyArray<Source>) => files.reduce((sum, { lines }) => sum + lines, 0)

const arrowsIn = (arrows: Arrows) => [...arrows.values()].reduce((sum, { size }) => sum + size, 0)

/** Files by the first part of their path below a folder; those of the folder itself stand under its name. */
const roomsBelow = (folder: string): ReadonlyArray<readonly [string, ReadonlyArray<Source>]> => {
  const rooms = Map.groupBy(
    sources.filter(({ path }) => path.startsWith(folder)),
    ({ path }) => /^[^/]+\//u.exec(path.slice(folder.length))?.[0] ?? "(loose files)"
  )
  return [...rooms].toSorted(([a], [b]) => a.localeCompare(b))
}

const printRooms = (title: string, folder: string) => {
  console.log(`\n${title}`)
  for (const [room, files] of roomsBelow(folder))
    console.log(
      `  ${room.padEnd(16)} ${String(files.length).padStart(5)} files ${String(linesIn(files)).padStart(7)} lines`
    )
}

const imports: Arrows = new Map(sources.map((source) => [source.path, new Set(ownImports(source))]))

/** Bodies of runs, wherever they stand. */
const bodies = sources
  .filter(
    ({ path }) => path.startsWith("domain/") && /^(?:[A-Z]\w*Run|ChainTrader|ChainAction)\.ts$/u.test(basename(path))
  )
  .toSorted((a, b) => a.path.localeCompare(b.path))

const product = ["domain", "layers", "http", "rpc", "stream", "src", "client"]

interface Diagnostic {
  readonly filename: string
  readonly code: string
}

/** Functions of the product with more lines than this, counted by the linter; services' makers are among them. */
const longestFunction = 70
const longFunctions = (): ReadonlyArray<string> => {
  const folder = mkdtempSync(join(tmpdir(), "ballast-house-"))
  try {
    const config = join(folder, "oxlint.json")
    const rules = { "max-lines-per-function": ["error", { max: longestFunction }] }
    writeFileSync(config, JSON.stringify({ categories: { correctness: "off" }, rules }))
    const args = ["--config", config, "--format", "json", ...product]
    const answer = (() => {
      try {
        return execFileSync(join(root, "node_modules/.bin/oxlint"), args, {
          cwd: root,
          encoding: "utf8",
          maxBuffer: 1e9
        })
      } catch (error) {
        // It ends with 1 when it found one.
        return (error as { readonly stdout: string }).stdout
      }
    })()
    const { diagnostics } = JSON.parse(answer) as { readonly diagnostics: ReadonlyArray<Diagnostic> }
    return diagnostics.filter(({ code }) => code.includes("max-lines-per-function")).map(({ filename }) => filename)
  } finally {
    rmSync(folder, { force: true, recursive: true })
  }
}

/** A clause that begins with what, which, who, where or whether is a noun. */
const firstWords =
  "above after against also among and as at because before below beside between both but by during either for from if in into neither nor of on or over per since so than though through to under unless until upon when while with within without"
const begins = new RegExp(`^(?:${firstWords.replaceAll(" ", "|")})\\b`, "iu")

/** The doc comments of the repository, each as one line of text. */
export const docComments = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\/\*\*([\s\S]*?)\*\//gu)].map(([, body]) =>
    body!
      .split("\n")
      .map((line) => line.replace(/^\s*\*? ?/u, ""))
      .join(" ")
      .trim()
  )

/** The rule of sentences: a doc comment begins with a noun or a verb, names its thing, and says "previous". */
export const faultOf = (comment: string): "preposition" | "the same" | "of before" | undefined => {
  if (/^the same\b/iu.test(comment)) return "the same"
  if (begins.test(comment)) return "preposition"
  return /\bof before\b/u.test(comment) ? "of before" : undefined
}

const print = () => {
  printRooms("Rooms of the repository", "")
  printRooms("Rooms of domain/", "domain/")

  const rooms = roomsOf("domain")
  const parts = partsOf("domain")
  console.log("\nRooms and arrows of domain/")
  console.log(
    `  contexts in test/rooms.ts     ${Object.keys(contexts).length} with ${Object.values(contexts).flat().length} arrows`
  )
  console.log(`  folders, by their imports     ${rooms.size} with ${arrowsIn(rooms)} arrows`)
  console.log(`  folders and loose files       ${parts.size} with ${arrowsIn(parts)} arrows`)

  console.log("\nFiles that a run passes: its body and all that this imports")
  for (const { path } of bodies) console.log(`  ${path.padEnd(42)} ${reachedFrom(imports, path).size + 1}`)

  console.log("\nLines of the bodies of runs")
  for (const { lines, path } of bodies) console.log(`  ${path.padEnd(42)} ${lines}`)

  console.log(`\nFunctions above ${longestFunction} lines: ${longFunctions().length}`)

  const comments = sources
    .filter(({ path }) => product.some((folder) => path.startsWith(`${folder}/`)))
    .flatMap(({ path }) => docComments(readFileSync(join(root, path), "utf8")))
  const faults = comments.map(faultOf)
  const count = (fault: ReturnType<typeof faultOf>) => faults.filter((one) => one === fault).length
  console.log(`\nDoc comments of the product: ${faults.length}`)
  console.log(`  begin with a preposition or a conjunction  ${count("preposition")}`)
  console.log(`  begin with "The same"                      ${count("the same")}`)
  console.log(`  say "of before"                            ${count("of before")}`)
  console.log(
    `  have a word that the field does not use    ${comments.filter((text) => ownWordIn(text) !== undefined).length}`
  )
}

if (process.argv[1]?.endsWith("scripts/house.ts")) print()
