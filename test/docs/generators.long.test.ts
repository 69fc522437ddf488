/**
 * What generators of clients make of both OpenAPI documents compiles under strict rules, has every operation, and reads
 * the answers that the documents show. Each is installed into a folder of its own: together they would be half of what
 * the repository installs. docs/decisions/0331-generators-of-clients.md says why these.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Version, writeWhole } from "#test/api/support/snapshots.ts"

const root = join(import.meta.dirname, "../..")
const run = promisify(execFile)

const versions: ReadonlyArray<Version> = ["v1", "v2"]

/** The frozen documents in one file each, as generators read them. */
let parent: string
const documentOf = (version: Version) => join(parent, `${version}.json`)

interface Generator {
  readonly name: string
  /** Packages with exact versions, those that the generated code needs included. */
  readonly packages: ReadonlyArray<string>
  /** What is written into its folder before it runs, by the name of the file. */
  readonly files?: (input: string, output: string) => Readonly<Record<string, string>>
  readonly bin: string
  readonly args: (input: string, output: string) => ReadonlyArray<string>
  readonly compilerOptions?: Readonly<Record<string, boolean>>
}

const generators: ReadonlyArray<Generator> = [
  {
    name: "orval",
    packages: ["orval@8.38.0", "zod@4.6.7"],
    files: (input, output) => ({
      "orval.config.mjs": `const input = ${JSON.stringify(input)}
export default {
  zod: { input, output: { target: "./${output}/zod.ts", client: "zod" } },
  fetch: { input, output: { target: "./${output}/fetch.ts", client: "fetch" } }
}`
    }),
    bin: "orval",
    args: () => ["--config", "./orval.config.mjs"]
  },
  {
    name: "openapi-zod-client",
    packages: ["openapi-zod-client@1.18.3", "@zodios/core@10.9.6", "zod@3.25.76", "axios@1.21.1"],
    bin: "openapi-zod-client",
    args: (input, output) => [input, "--with-alias", "-o", `./${output}/client.ts`]
  },
  {
    name: "@hey-api/openapi-ts",
    packages: ["@hey-api/openapi-ts@0.99.0", "typescript@5.9.3"],
    bin: "openapi-ts",
    args: (input, output) => ["-i", input, "-o", `./${output}`]
  },
  {
    name: "openapi-typescript",
    packages: ["openapi-typescript@7.13.0", "typescript@5.9.3"],
    bin: "openapi-typescript",
    args: (input, output) => [input, "-o", `./${output}/types.ts`]
  },
  {
    name: "kubb",
    packages: [
      ...["cli", "core", "plugin-oas", "plugin-ts", "plugin-zod"].map((part) => `@kubb/${part}@4.39.3`),
      "zod@4.6.7"
    ],
    files: (input, output) => ({
      "kubb.config.mjs": `import { defineConfig } from "@kubb/core"
import { pluginOas } from "@kubb/plugin-oas"
import { pluginTs } from "@kubb/plugin-ts"
import { pluginZod } from "@kubb/plugin-zod"
export default defineConfig({
  root: ".",
  input: { path: ${JSON.stringify(input)} },
  output: { path: "./${output}", clean: true, format: false, lint: false },
  plugins: [pluginOas(), pluginTs(), pluginZod()]
})`
    }),
    bin: "kubb",
    args: () => ["generate", "--config", "kubb.config.mjs"],
    // It imports its own files by their names, and its page asks for this.
    compilerOptions: { allowImportingTsExtensions: true }
  }
]

const strict = {
  strict: true,
  noEmit: true,
  target: "ES2022",
  lib: ["ES2023", "DOM", "DOM.Iterable"],
  module: "ESNext",
  moduleResolution: "bundler",
  types: [],
  skipLibCheck: true
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }>
  >
}

const operationsOf = async (version: Version): Promise<ReadonlyArray<Operation>> => {
  const { paths } = JSON.parse(await readFile(documentOf(version), "utf8"))
  return Object.values<Readonly<Record<string, Operation>>>(paths).flatMap((path) => Object.values(path))
}

/** All that was written into a folder, with the names of its files. */
const textIn = async (folder: string): Promise<string> => {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".ts"))
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), "utf8")))
  return [...paths, ...texts].join("\n")
}

/** Answers of a document that a module of zod schemas refuses, each with its reason. */
const refusedBySchemas = async (folder: string, version: Version): Promise<unknown> => {
  const answers = (await operationsOf(version)).flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      const example = content?.["application/json"]?.example
      return !status.startsWith("2") || example === undefined ? [] : [[operationId, example]]
    })
  )
  assert.isAbove(answers.length, 9)
  await writeFile(join(folder, `answers-${version}.json`), JSON.stringify(answers))
  const program = `
import * as schemas from "./${version}/zod.ts"
import answers from "./answers-${version}.json" with { type: "json" }
const refused = answers.flatMap(([operationId, answer]) => {
  const schema = schemas[operationId[0].toUpperCase() + operationId.slice(1) + "Response"]
  if (schema === undefined) return [[operationId, "has no schema"]]
  const { error } = schema.safeParse(answer)
  return error === undefined ? [] : [[operationId, error.issues]]
})
console.log(JSON.stringify(refused))`
  await writeFile(join(folder, `read-${version}.mjs`), program)
  const { stdout } = await run(process.execPath, [`read-${version}.mjs`], { cwd: folder })
  return JSON.parse(stdout)
}

/** Whether the registry that npm is configured with has a package. */
const isServed = (wanted: string): Promise<boolean> =>
  run("npm", ["view", wanted, "version", "--fetch-retries=0", "--fetch-timeout=20000"], { cwd: tmpdir() }).then(
    ({ stdout }) => stdout.trim() !== "",
    () => false
  )

const hasRegistry = await isServed("openapi-typescript@7.13.0")
const minutes = 60_000

describe("generators of clients", () => {
  if (!hasRegistry) {
    it.skip("skipped because npm has no registry that answers, from which they are installed", () => {})
    return
  }

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "ballast-generators-"))
    for (const version of versions) writeWhole(version, documentOf(version))
  })
  afterAll(() => rm(parent, { recursive: true, force: true, maxRetries: 5 }))

  for (const { args, bin, compilerOptions, files, name, packages } of generators) {
    it(
      `${name} makes of both documents what compiles and has every operation`,
      async () => {
        const folder = join(parent, bin)
        await mkdir(folder)
        await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
        // Before they run: some read the nearest settings of a compiler, which would be those of a folder above.
        const config = {
          compilerOptions: { ...strict, ...compilerOptions },
          include: versions.map((each) => `${each}/**/*`)
        }
        await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config))
        const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
        await run("npm", [...install, ...packages], { cwd: folder })
        for (const version of versions) {
          await mkdir(join(folder, version))
          for (const [file, text] of Object.entries(files?.(documentOf(version), version) ?? {}))
            await writeFile(join(folder, file), text)
          const program = join(folder, "node_modules/.bin", bin)
          await run(process.execPath, [program, ...args(documentOf(version), version)], { cwd: folder })
          const text = (await textIn(join(folder, version))).toLowerCase()
          const operationIds = (await operationsOf(version)).map(({ operationId }) => operationId)
          assert.deepStrictEqual(
            operationIds.filter((operationId) => !text.includes(operationId.toLowerCase())),
            []
          )
        }
        const complaints = await run(process.execPath, [
          join(root, "node_modules/typescript/bin/tsc"),
          "-p",
          folder
        ]).then(
          () => "",
          (error: { readonly stdout: string }) => error.stdout
        )
        assert.strictEqual(complaints, "")
      },
      10 * minutes
    )
  }

  it(
    "schemas that were generated read every answer that the documents show",
    async () => {
      for (const version of versions)
        assert.deepStrictEqual(await refusedBySchemas(join(parent, "orval"), version), [], version)
    },
    minutes
  )
})
