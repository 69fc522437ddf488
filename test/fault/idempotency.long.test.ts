/** Two processes on one PostgreSQL server get the same request at once, many times: it is carried out once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { fillCatalogue, newTenant } from "#test/api/support/actors.ts"
import { Api, apiOn } from "#test/api/support/Api.ts"
import { newServerDatabase, storesOn } from "#test/support/database.ts"

const headers = { "idempotency-key": "6f1d3c1e-5b0e-4f0e-9d55-0a9b6a3a2a11" }

const requests = [
  ["/v2/webhooks", "webhooks", { url: "https://hooks.example.com/ballast" }],
  [
    "/v2/strategies",
    "strategies",
    {
      name: "Once",
      allocation: {
        assets: [{ assetId: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", weight: "100" }]
      },
      schedule: { type: "interval", frequency: "daily" }
    }
  ]
] as const

describe("Idempotency-Key over two processes on one PostgreSQL server", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  for (const [path, list, body] of requests)
    it.live(`of 50 times POST ${path} at once one creates, and all that follow are answered as it was`, () =>
      Effect.gen(function* () {
        const url = yield* newDatabase
        const start = Layer.build(Layer.fresh(apiOn(storesOn(url))))
        const [one, other] = [yield* start, yield* start]
        const key = yield* Effect.andThen(
          fillCatalogue,
          Effect.map(newTenant(), (tenant) => tenant.key)
        ).pipe(Effect.provide(one))
        const post = Effect.flatMap(Api, ({ call }) => call("POST", path, { key, headers, body }))
        const answers = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? one : other)),
          (context) => Effect.provide(post, context),
          { concurrency: "unbounded" }
        )
        const made = answers.filter(({ status }) => status === 201)
        assert.lengthOf(
          made.filter(({ headers: got }) => got.get("idempotent-replayed") === null),
          1
        )
        for (const { json, status } of answers) if (status !== 201) assert.strictEqual(json.error.code, "API_007")
        for (const context of [one, other])
          assert.strictEqual((yield* Effect.provide(post, context)).text, made[0]!.text)
        const listed = yield* Effect.provide(
          Effect.flatMap(Api, ({ call }) => call("GET", path, { key })),
          other
        )
        assert.lengthOf(listed.json.data[list], 1)
      }).pipe(Effect.scoped)
    )
})
