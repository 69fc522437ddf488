/** The sources of the repository as tests of the house read them: what each file imports, and what folders import. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url))
const folders = ["src", "client", "domain", "layers", "http", "rpc", "stream", "migrations", "sandbox", "bench", "test"]

export interface Source {
  /** Path from the root, with `/`. */
  readonly path: string
  /** Text without comments. */
  readonly code: string
  readonly lines: number
  /** Numbers of the lines that are wider than 120 columns and are neither prose nor an import. */
  readonly wide: ReadonlyArray<number>
  /** Modules, of types as well. */
  readonly imports: ReadonlyArray<string>
}

const stringOrComment = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
/**
 * A line that holds one string, or a key and its string: a sentence that somebody reads, a signature of a contract's
 * function, a URL. The formatter does not break these, and neither does a reader. SQL after its tag is not one.
 */
const prose =
  /^(?:\s*"[^"]*":)?[^"'`]*(?<![\w$])(?:"(?:\\.|[^"\\]){60,}"|'(?:\\.|[^'\\]){60,}'|`(?:\\.|[^`\\]){60,}`)[^"'`]*$/
const importLine = /^(?:import|export|\} from)\b.*\bfrom "/
/** A line that is a comment or a part of one. */
export const comment = /^\s*(?:\/\*|\*|\/\/)/
/** A name of a module has none of the characters by which patterns in tests search for imports. */
export const importedModule = /(?:\bfrom|\bimport)\s*\(?\s*"([\w@#./:-]+)"/g

const filesUnder = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /\.m?ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
  } catch {
    return []
  }
}

const read = (path: string): Source => {
  const text = readFileSync(join(root, path), "utf8")
  const lines = text.split("\n")
  const code = text.replaceAll(stringOrComment, (_, kept: string | undefined) => kept ?? "")
  return {
    path,
    code,
    lines: lines.length,
    wide: lines.flatMap((line, index) =>
      line.length > 120 && (comment.test(line) || !(prose.test(line) || importLine.test(line))) ? [index + 1] : []
    ),
    imports: [...code.matchAll(importedModule)].map(([, name]) => name!)
  }
}

export const sources: ReadonlyArray<Source> = folders.flatMap(filesUnder).map(read)

export const inFolder = (folder: string) => sources.filter(({ path }) => path.startsWith(`${folder}/`))

/** What `source` imports of the repository, as paths from the root. */
export const ownImports = ({ imports }: Source) =>
  imports.filter((name) => name.startsWith("#")).map((name) => name.slice(1))

/** A graph by names: what comes after each of them. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>

/** Which room of a folder a path is in: the folder below it. Undefined outside of it and for files of its own. */
export const roomOf = (folder: string, path: string): string | undefined =>
  path.startsWith(`${folder}/`) ? /^([^/]+)\//.exec(path.slice(folder.length + 1))?.[1] : undefined

/** The rooms of a folder, each with the others that its files import. */
export const roomsOf = (folder: string): Arrows => {
  const rooms = new Map<string, Set<string>>()
  for (const source of inFolder(folder)) {
    const own = roomOf(folder, source.path)
    if (own === undefined) continue
    const others = rooms.get(own) ?? new Set()
    rooms.set(own, others)
    for (const path of ownImports(source)) {
      const other = roomOf(folder, path)
      if (other !== undefined && other !== own) others.add(other)
    }
  }
  return rooms
}

/** The folders that a path is in, each below the one before it. */
export const foldersOf = (path: string): ReadonlyArray<string> =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join("/"))

/** What stands side by side in a folder, files and folders alike, each with the others that it imports. */
export const partsOf = (folder: string, without: Readonly<Record<string, string>> = {}): Arrows => {
  const partOf = (path: string) =>
    path.startsWith(`${folder}/`) && !(path in without) ? path.slice(0, `${path}/`.indexOf("/", folder.length + 1)) : ""
  const parts = new Map<string, Set<string>>()
  for (const source of inFolder(folder)) {
    const own = partOf(source.path)
    if (own === "") continue
    const others = parts.get(own) ?? new Set()
    parts.set(own, others)
    for (const path of ownImports(source)) {
      const other = partOf(path)
      if (other !== "" && other !== own) others.add(other)
    }
  }
  return parts
}

/** What reaches itself: one list for each circle, or for those that meet. */
export const circlesOf = (arrows: Arrows): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: Array<string> = []
  const circles: Array<ReadonlyArray<string>> = []
  const visit = (name: string): void => {
    order.set(name, order.size)
    lowest.set(name, order.get(name)!)
    open.push(name)
    for (const next of arrows.get(name) ?? []) {
      if (!arrows.has(next)) continue
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(name, Math.min(lowest.get(name)!, lowest.get(next)!))
    }
    if (lowest.get(name) !== order.get(name)) return
    const circle = open.splice(open.indexOf(name))
    if (circle.length > 1) circles.push(circle)
  }
  for (const name of arrows.keys()) if (!order.has(name)) visit(name)
  return circles
}

/** All that can be reached from `from`, without itself unless there is a circle. */
export const reachedFrom = (arrows: Arrows, from: string): ReadonlySet<string> => {
  const reached = new Set<string>()
  const visit = (name: string): void => {
    for (const next of arrows.get(name) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      visit(next)
    }
  }
  visit(from)
  return reached
}

/** The arrows without those that a longer way makes needless; of a graph without circles there is one such answer. */
export const reduced = (arrows: Arrows): Arrows =>
  new Map(
    [...arrows].map(([name, others]) => {
      const byOthers = new Set([...others].flatMap((other) => [...reachedFrom(arrows, other)]))
      return [name, new Set([...others].filter((other) => !byOthers.has(other)))]
    })
  )
