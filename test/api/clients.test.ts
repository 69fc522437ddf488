/**
 * The document is good enough for machines: two unrelated generators make clients of it that compile under the
 * strictest rules, with a program that uses them rightly and one that does not. And the client of our own,
 * `ballast-effect`.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { execFile } from "node:child_process"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { makeClient, NotFound } from "#client/effect/effect.ts"
import { StrategyId } from "#domain/values/Ids.ts"
import { newTenant } from "#test/api/support/actors.ts"
import { Api, ApiLive } from "#test/api/support/Api.ts"
import { writeWhole } from "#test/api/support/snapshots.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** The frozen document, in a generator's folder. */
const documentIn = (folder: string) => join(folder, "openapi.json")

const run = (script: string, args: ReadonlyArray<string>, cwd: string) =>
  promisify(execFile)(process.execPath, [join(root, "node_modules", script), ...args], { cwd })

interface Generator {
  readonly name: string
  readonly generate: (folder: string) => Promise<unknown>
  /** Uses the client; the marked line misuses it and must be an error. */
  readonly program: string
}

const draft = `{ name: "Blue chips", allocation: { assets: [{ assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", weight: "100.00" }] }, schedule: { type: "interval", frequency: "daily" } }`

const generators: ReadonlyArray<Generator> = [
  {
    name: "oazapfts",
    generate: (folder) => run("oazapfts/dist/cli.js", [documentIn(folder), join(folder, "client.ts")], folder),
    program: `
      import { createStrategy, whoami } from "#client.ts"
      const answer = await whoami()
      if (answer.status === 200) answer.data.data.tenantName satisfies string
      await createStrategy(${draft})
      // @ts-expect-error a strategy needs a name
      await createStrategy({ allocation: { assets: [] } })`
  },
  {
    name: "swagger-typescript-api",
    generate: (folder) =>
      run(
        "swagger-typescript-api/dist/cli.mjs",
        ["generate", "-p", documentIn(folder), "-o", folder, "-n", "client.ts"],
        folder
      ),
    program: `
      import { Api } from "#client.ts"
      const api = new Api()
      const answer = await api.v2.whoami()
      answer.data.data.tenantName satisfies string
      await api.v2.createStrategy(${draft})
      // @ts-expect-error a strategy needs a name
      await api.v2.createStrategy({ allocation: { assets: [] } })`
  }
]

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: "ES2024",
  lib: ["ES2024", "DOM"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: [],
  allowImportingTsExtensions: true,
  skipLibCheck: true
}

const compile = async ({ generate, program }: Generator) => {
  const folder = await mkdtemp(join(tmpdir(), "ballast-client-"))
  try {
    await symlink(join(root, "node_modules"), join(folder, "node_modules"))
    await writeFile(
      join(folder, "package.json"),
      JSON.stringify({ type: "module", imports: { "#client.ts": "./client.ts" } })
    )
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
    await writeFile(join(folder, "program.ts"), program)
    writeWhole("v2", documentIn(folder))
    await generate(folder)
    return await run("typescript/bin/tsc", ["-p", folder], folder).then(
      () => "compiles",
      (error: { readonly stdout: string }) => error.stdout
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe("generated clients", () => {
  for (const generator of generators) {
    it(`${generator.name} makes a client that compiles`, async () =>
      assert.strictEqual(await compile(generator), "compiles"))
  }
})

layer(ApiLive, { excludeTestServices: true })("ballast-effect", (it) => {
  /** The API of the tests in place of a network. */
  const InProcess = Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const { call } = yield* Api
      return HttpClient.make((request, url) =>
        Effect.map(call(request.method, `${url.pathname}${url.search}`, { headers: request.headers }), (answer) =>
          HttpClientResponse.fromWeb(
            request,
            new Response(answer.text, { status: answer.status, headers: answer.headers })
          )
        )
      )
    })
  )

  it.effect("answers typed data, and fails with the class of the API error", () =>
    Effect.gen(function* () {
      const { tenantId, key } = yield* newTenant()
      assert.isString(tenantId)
      const ballast = yield* makeClient({ baseUrl: "http://api.test", apiKey: Redacted.make(key) })
      const { data } = yield* ballast.identity.whoami()
      assert.include(data.scopes, "strategies:read")
      const missing = yield* Effect.flip(
        ballast.strategies.getStrategy({ params: { strategyId: StrategyId.make("01JQ8ZKX4V6T3M9N2C5B7D8F0G") } })
      )
      assert.instanceOf(missing, NotFound)
    }).pipe(Effect.provide(InProcess))
  )
})
