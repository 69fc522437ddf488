/** Reads the sources of the catalogue and compares them with its files; what a person has seen may then be written. */
import { Clock, DateTime, Effect, FileSystem, Path, Result, Schema } from "effect"
import { subjects } from "#layers/catalogue/content.ts"
import { compareGroup, type GroupChange } from "#layers/catalogue/refresh/compareGroup.ts"
import { CatalogueSources, type SourceRead, type SourceUnread } from "#layers/catalogue/refresh/SourceRead.ts"
import { type CatalogueReader, printTokenFile, TokenFile, type TokenGroup } from "#layers/catalogue/TokenFile.ts"

/** A file of the catalogue and what its sources say of each of its groups. */
export interface FileChange {
  readonly path: string
  readonly file: TokenFile
  readonly groups: ReadonlyArray<GroupOutcome>
}

export type GroupOutcome =
  | { readonly _tag: "Compared"; readonly change: GroupChange }
  /** The source could not be read: its tokens stay. */
  | { readonly _tag: "Unread"; readonly group: TokenGroup; readonly reason: string }
  | { readonly _tag: "ByHand"; readonly group: TokenGroup }

export interface RefreshOptions {
  /** The folder of the catalogue's files. */
  readonly folder: string
  readonly maxRemovedPercent: number
}

const decodeFile = Schema.decodeUnknownEffect(Schema.fromJsonString(TokenFile))

const readFiles = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(folder)).filter((name) => name.endsWith(".json")).sort()
  return yield* Effect.forEach(names, (name) =>
    Effect.gen(function* () {
      const at = path.join(folder, name)
      return { path: at, file: yield* decodeFile(yield* files.readFileString(at)) }
    })
  )
})

const idsOf = ({ chain, tokens }: TokenGroup) => tokens.map(([, , , address]) => `${chain}/${address}`)

export const compareCatalogue = Effect.fn("compareCatalogue")(function* (options: RefreshOptions) {
  const sources = yield* CatalogueSources
  const files = yield* readFiles(options.folder)
  const groups = files.flatMap(({ file }) => file.groups)
  const readers = [...new Set(groups.flatMap(({ source }) => source.reader ?? []))]
  const reads = new Map<CatalogueReader, Result.Result<SourceRead, SourceUnread>>(
    yield* Effect.forEach(
      readers,
      (reader) => Effect.map(Effect.result(sources[reader]), (read) => [reader, read] as const),
      { concurrency: "unbounded" }
    )
  )
  const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))

  const outcomeOf = (group: TokenGroup): GroupOutcome => {
    const { reader } = group.source
    const read = reader === null ? undefined : reads.get(reader)
    if (read === undefined) return { _tag: "ByHand", group }
    if (Result.isFailure(read)) return { _tag: "Unread", group, reason: read.failure.reason }
    const change = compareGroup(group, read.success, {
      isShare: (ticker) => subjects.shares.has(ticker),
      elsewhere: new Set(groups.filter((other) => other !== group).flatMap(idsOf)),
      today,
      maxRemovedPercent: options.maxRemovedPercent
    })
    return { _tag: "Compared", change }
  }
  return files.map(({ file, path }): FileChange => ({ path, file, groups: file.groups.map(outcomeOf) }))
})

/** Writes the files whose tokens have changed; those of which only the day of reading is new stay as they are. */
export const writeCatalogue = Effect.fn("writeCatalogue")(function* (changes: ReadonlyArray<FileChange>) {
  const files = yield* FileSystem.FileSystem
  const written: Array<string> = []
  for (const { file, groups, path } of changes) {
    const compared = groups.flatMap((outcome) => (outcome._tag === "Compared" ? [outcome.change] : []))
    const isNew = compared.some(
      ({ added, changed, refusal, removed }) => refusal === null && added.length + changed.length + removed.length > 0
    )
    if (!isNew) continue
    const next = groups.map((outcome) => (outcome._tag === "Compared" ? outcome.change.next : outcome.group))
    yield* files.writeFileString(path, printTokenFile({ ...file, groups: next }))
    written.push(path)
  }
  return written
})
