/**
 * The frozen OpenAPI documents of test/api/openapi: `v1` and `v2` have a file for each operation and for each schema,
 * and `document.json` for what is left, so that a review shows which of them a change touches.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

import type { Document } from "#test/api/support/declaredAnswers.ts"

export type Version = "v1" | "v2"

const folderOf = (version: Version) => fileURLToPath(new URL(`../openapi/${version}`, import.meta.url))

interface Remainder {
  /** Operations by path and method, in the document's order: each the name of its file. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly components: { readonly schemas: ReadonlyArray<string> }
}

const fileOfOperation = (path: string, method: string, id: string | undefined) =>
  `operations/${id?.replaceAll(/[^\w.-]/gu, "_") ?? `${method}${path.replaceAll(/[^\w.-]+/gu, "_")}`}.json`

const fileOfSchema = (name: string) => `schemas/${name.replaceAll(/[^\w.-]/gu, "_")}.json`

const mapped = <A, B>(record: Readonly<Record<string, A>>, f: (value: A, key: string) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value, key)]))

/** The files of a document, by their paths below its folder. No two parts share a file, in any case of letters. */
export const filesOf = (document: Document): ReadonlyMap<string, unknown> => {
  const files = new Map<string, unknown>()
  const taken = new Set<string>()
  const put = (path: string, content: unknown) => {
    if (taken.has(path.toLowerCase())) throw new Error(`two parts of the document would be ${path}`)
    taken.add(path.toLowerCase())
    files.set(path, content)
    return path
  }
  const paths = mapped(document.paths, (item, path) =>
    mapped(item, (operation, method) => put(fileOfOperation(path, method, operation.operationId), operation))
  )
  for (const [name, schema] of Object.entries(document.components.schemas)) put(fileOfSchema(name), schema)
  const schemas = Object.keys(document.components.schemas)
  put("document.json", { ...document, paths, components: { ...document.components, schemas } })
  return files
}

const namesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

/** Files that no part of the frozen document names: what is left of an operation or a schema that was removed. */
export const strayFiles = (version: Version): ReadonlyArray<string> => {
  const known = filesOf(readSnapshot(version))
  return namesBelow(folderOf(version)).filter((name) => !known.has(name))
}

export const readSnapshot = (version: Version): Document => {
  const folder = folderOf(version)
  const read = (path: string) => JSON.parse(readFileSync(join(folder, path), "utf8"))
  const remainder: Remainder = read("document.json")
  return {
    ...remainder,
    paths: mapped(remainder.paths, (item) => mapped(item, read)),
    components: {
      ...remainder.components,
      schemas: Object.fromEntries(remainder.components.schemas.map((name) => [name, read(fileOfSchema(name))]))
    }
  }
}

/** Writes a document anew; files of what it does not have any more go. */
export const writeSnapshot = (version: Version, document: Document): void => {
  const folder = folderOf(version)
  rmSync(folder, { force: true, recursive: true })
  for (const [path, content] of filesOf(document)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
  }
}

/** Writes the frozen document in one file, for tools that read no other. */
export const writeWhole = (version: Version, file: string): void =>
  writeFileSync(file, `${JSON.stringify(readSnapshot(version), null, 2)}\n`)
