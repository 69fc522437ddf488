/**
 * Requires, after a run of all contract tests, that every answer that an OpenAPI document declares was given to one of
 * them. A route, a status or a code that is declared without a test fails the run, and so does one that cannot happen.
 */
import { readdir, readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import { missingAnswers } from "#test/api/support/declaredAnswers.ts"
import { readSnapshot, type Version } from "#test/api/support/snapshots.ts"

const versions: ReadonlyArray<Version> = ["v2", "v1"]

const folder = fileURLToPath(new URL("..", import.meta.url))

/**
 * Only then is something missing: a single file, or tests chosen by name, owe no other answers, and what a test that
 * failed did not come to is no news. A file that is skipped as a whole counts: what it would produce is missing.
 */
const isWholeRun = async ({ config, vitest }: TestProject): Promise<boolean> => {
  if (config.testNamePattern !== undefined) return false
  const ended = new Set(
    vitest.state
      .getTestModules()
      .filter((module) => ["passed", "skipped"].includes(module.state()))
      .map(({ moduleId }) => moduleId)
  )
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".test.ts"))
  return files.every((name) => ended.has(`${folder}${name}`))
}

/** Fails with the list of what no test produced. `answersFile` has one answer a line, as noteAnswer.ts writes them. */
export const requireEveryAnswer = async (project: TestProject, answersFile: string): Promise<void> => {
  if (!(await isWholeRun(project))) return
  const produced = await readFile(answersFile, "utf8")
  const missing = versions.flatMap((version) => missingAnswers(readSnapshot(version), produced))
  if (missing.length === 0) return
  throw new Error(
    `${missing.length} answers are declared and produced by no contract test; test them, or take them out of the contract:\n${missing.join("\n")}`
  )
}
