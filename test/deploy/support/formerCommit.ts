/**
 * The code that an upgrade is tried from: the latest commit whose migrations are an earlier part of this tree's. So a
 * new migration is tried with the code before it, as soon as it is committed, by the tests of upgrades. While there is
 * none after the baseline, the code is that of this tree.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"

const repository = join(import.meta.dirname, "../../..")

/** A migration of a commit: the hash of its text, and its file. */
export type CommittedMigration = string

export interface Commit {
  readonly id: string
  readonly migrations: ReadonlyArray<CommittedMigration>
}

/** Finds the former commit among commits, newest first, of which the first is this tree. */
export const formerOf = ([own, ...before]: readonly [Commit, ...ReadonlyArray<Commit>]): Commit => {
  const known = new Set(own.migrations)
  const isEarlier = ({ migrations }: Commit) =>
    migrations.length > 0 && migrations.length < known.size && migrations.every((one) => known.has(one))
  return before.find(isEarlier) ?? own
}

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })

const migrationsOf = (commit: string) => git("ls-tree", commit, "migrations/").trim().split("\n")

/** Undefined where the history of the repository is not here. */
export const formerCommit = (): Commit | undefined => {
  try {
    const ids = git("rev-list", "--first-parent", "--max-count=300", "HEAD").trim().split("\n")
    const [own, ...before] = ids.map((id) => ({ id, migrations: migrationsOf(id) }))
    return own === undefined ? undefined : formerOf([own, ...before])
  } catch {
    return undefined
  }
}

/** The tree of a commit, as a tar archive. */
export const archiveOf = ({ id }: Commit): Buffer =>
  execFileSync("git", ["-C", repository, "archive", "--format=tar", id], { maxBuffer: 512 * 2 ** 20 })
