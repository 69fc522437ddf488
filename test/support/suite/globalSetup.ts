/**
 * Makes one migrated database for the whole test run, an embedded one and one on the server of `TEST_DATABASE_URL`;
 * each test works on a copy of it. Making a new database costs seconds and gigabytes, copying one a fraction. Checks,
 * when the run ends, that the contract tests produced every answer that the API declares.
 */
import { Effect, Exit, Layer, Scope } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import * as Database from "#layers/sql/Database.ts"
import { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import * as Migrations from "#layers/sql/Migrations.ts"
import { requireEveryAnswer } from "#test/api/support/requireEveryAnswer.ts"
import { newTemplate } from "#test/support/suite/serverDatabase.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Data directory of the migrated database; to be copied, never opened. */
    readonly templateDataDir: string
    /** Name of the migrated database on the server of `TEST_DATABASE_URL`, to be copied; null without one. */
    readonly serverTemplate: string | null
    /** Where contract tests note what the API answered. */
    readonly answersFile: string
  }
}

export default async (project: TestProject) => {
  const dataDir = await mkdtemp(join(tmpdir(), "ballast-template-"))
  const config = Layer.succeed(DatabaseConfig, { url: null, dataDir, maxConnections: 1 })
  await Effect.runPromise(
    Effect.scoped(Layer.build(Migrations.layer.pipe(Layer.provide(Database.layer), Layer.provide(config))))
  )
  project.provide("templateDataDir", dataDir)
  const scope = Scope.makeUnsafe()
  const serverUrl = process.env["TEST_DATABASE_URL"]
  const template = serverUrl === undefined ? Effect.succeed(null) : newTemplate(serverUrl)
  project.provide("serverTemplate", await Effect.runPromise(Scope.provide(template, scope)))
  const notes = await mkdtemp(join(tmpdir(), "ballast-answers-"))
  const answersFile = join(notes, "answers")
  await writeFile(answersFile, "")
  project.provide("answersFile", answersFile)
  return async () => {
    try {
      await requireEveryAnswer(project, answersFile)
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await Promise.all([dataDir, notes].map((folder) => rm(folder, { recursive: true, force: true })))
    }
  }
}
