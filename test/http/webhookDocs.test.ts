/** docs/webhooks.md: its verification is taken out, type-checked and run on what the service sends. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import type { DeliveryId } from "#domain/values/Ids.ts"
import { signedHeaders } from "#layers/webhook/WebhookSenderLive.ts"

const root = join(import.meta.dirname, "../..")

interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Verify = (secret: string, message: Message, now?: number) => unknown

class Snippet extends Context.Service<Snippet, { readonly path: string; readonly verify: Verify }>()(
  "ballast/test/WebhookSnippet"
) {
  /** Layer of a folder of the repository, where the types of Node are found. */
  static readonly layer = Layer.effect(
    Snippet,
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(async () => {
          const text = await readFile(join(root, "docs/webhooks.md"), "utf8")
          const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, code]) => code!)
          assert.lengthOf(blocks, 1)
          const folder = await mkdtemp(join(root, "node_modules/.webhook-docs-"))
          const path = join(folder, "verifyWebhook.mts")
          await writeFile(path, blocks[0]!)
          return { folder, path }
        }),
        ({ folder }) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
      ),
      ({ path }) => {
        const verify: Verify = (...sent) => loaded.verifyWebhook(...sent)
        let loaded: { readonly verifyWebhook: Verify }
        return { path, verify, load: import(pathToFileURL(path).href).then((module) => (loaded = module)) }
      }
    ).pipe(Effect.tap(({ load }) => Effect.promise(() => load)))
  )
}

const bytes = new Uint8Array(32).fill(7)
const secret = `whsec_${Buffer.from(bytes).toString("base64")}`
const body = '{"type":"portfolio.paused","data":{}}'
const timestamp = 1_772_440_200
const now = timestamp * 1000

const headersOf = (...fills: ReadonlyArray<Uint8Array>) =>
  signedHeaders({
    url: "https://hooks.example.com/",
    deliveryId: "whd_01JQ8ZR8B0D2F4H6J8K0M2N4P6" as DeliveryId,
    timestamp,
    body,
    secrets: fills.map((fill) => Redacted.make(fill))
  })

layer(Snippet.layer, { excludeTestServices: true })("the verification of docs/webhooks.md", (it) => {
  it.effect("takes what the service signs, by one secret or by two, and nothing else", () =>
    Effect.gen(function* () {
      const { verify } = yield* Snippet
      const other = new Uint8Array(32).fill(8)
      const headers = headersOf(bytes)
      assert.deepStrictEqual(verify(secret, { headers, body }, now), JSON.parse(body))
      assert.deepStrictEqual(
        verify(secret, { headers: headersOf(other, bytes), body }, now + 299_000),
        JSON.parse(body)
      )
      for (const forged of [
        () => verify(secret, { headers: headersOf(other), body }, now),
        () => verify(secret, { headers, body: body.replace("paused", "started") }, now),
        () => verify(secret, { headers: { ...headers, "webhook-id": "whd_01JQ8ZR8B0D2F4H6J8K0M2N4P7" }, body }, now),
        () => verify(secret, { headers: { ...headers, "webhook-timestamp": String(timestamp + 1) }, body }, now),
        () => verify(secret, { headers: { ...headers, "webhook-signature": "v1," }, body }, now),
        () => verify(secret, { headers: {}, body }, now)
      ])
        assert.throws(forged)
      for (const late of [301_000, -301_000])
        assert.throws(() => verify(secret, { headers, body }, now + late), /too old/u)
    })
  )

  it.effect("is TypeScript without an error", () =>
    Effect.gen(function* () {
      const { path } = yield* Snippet
      const options = [
        "--noEmit",
        "--ignoreConfig",
        "--strict",
        "--target",
        "es2024",
        "--module",
        "nodenext",
        "--types",
        "node"
      ]
      yield* Effect.promise(() =>
        promisify(execFile)(join(root, "node_modules/.bin/tsc"), [...options, "--noUncheckedIndexedAccess", path])
      )
    })
  )
})
