/** The commands that say what happened, over a real server. */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Cause, ConfigProvider, Console, DateTime, Effect, Exit, Layer } from "effect"
import { Command } from "effect/cli"
import type { ChainId } from "#domain/values/Caip.ts"
import { makeOperationId, type PortfolioId } from "#domain/values/Ids.ts"
import { emptyChain, operationResult } from "#domain/operation/OperationResult.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { RunStore } from "#domain/rebalance/RunStore.ts"
import { SkipCode } from "#domain/values/Skip.ts"
import { ballast } from "#src/cli/commands.ts"
import { RunAdmin } from "#src/cli/RunAdmin.ts"
import { TenantAdmin } from "#src/cli/TenantAdmin.ts"
import { enrolledUser } from "#test/api/support/actors.ts"
import { Api } from "#test/api/support/Api.ts"
import { Streams } from "#test/api/support/StreamingApi.ts"
import { executionsApi } from "#test/rpc/support/ExecutionsApi.ts"

const sentence = "The last price of the asset is too old to trade on"

/** A portfolio whose last run left everything, because of an old price. */
const skipped = Effect.gen(function* () {
  const user = yield* enrolledUser()
  const operationId = yield* makeOperationId
  const store = yield* OperationStore
  const now = yield* DateTime.now
  const portfolioId = user.portfolioId as PortfolioId
  yield* store.submitManual({ operationId, tenantId: user.tenantId, portfolioId, now, cooldownMs: 0 })
  yield* store.transition({ operationId, to: "running", at: now, error: null })
  const skips = [{ assetId: null, code: SkipCode.stalePrice, valueUsd: -(10n ** 18n), reason: sentence }]
  const result = operationResult([{ ...emptyChain(8453 as ChainId), skips }], 0n)
  yield* (yield* RunStore).finish({
    operationId,
    strategyVersion: 1,
    at: now,
    error: null,
    report: { strategyVersion: 1, chains: [] },
    ended: { outcome: "skipped", result }
  })
  return { ...user, operationId }
})

const run = Effect.fnUntraced(function* (line: string, env: Readonly<Record<string, string>>) {
  const printed: Array<string> = []
  const write = (text: string) => void printed.push(text)
  const console = { ...(yield* Console.Console), log: write, error: write } as Console.Console
  const refused = Effect.die(new Error("tenants are not asked for"))
  const noAdmin = Layer.merge(Layer.effect(TenantAdmin, refused), Layer.effect(RunAdmin, refused))
  const exit = yield* Command.runWith(ballast(noAdmin), { version: "0" })(line.split(" ")).pipe(
    Effect.provideService(Console.Console, console),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)),
    Effect.provide(NodeServices.layer),
    Effect.exit
  )
  return { text: printed.join("\n"), exit }
})

layer(executionsApi(), { excludeTestServices: true })("why was my portfolio not traded", (it) => {
  it.effect("is answered by the portfolio, by the list and by the operation, with curl as with the command line", () =>
    Effect.gen(function* () {
      const { call } = yield* Api
      const { key, operationId, portfolioId } = yield* skipped
      const env = { BALLAST_API_KEY: key, BALLAST_URL: new URL((yield* Streams).url("")).origin }

      const portfolio = (yield* call("GET", `/v2/portfolios/${portfolioId}`, { key })).json.data
      assert.deepInclude(portfolio.lastOperation, { operationId, outcome: "skipped", reason: sentence })
      const listed = (yield* call("GET", `/v2/portfolios/${portfolioId}/operations`, { key })).json.data.operations
      assert.deepInclude(listed[0], { operationId, outcome: "skipped", reason: sentence })
      const detail = (yield* call("GET", `/v2/portfolios/${portfolioId}/operations/${operationId}`, { key })).json.data
      assert.deepStrictEqual(detail.result.chains[0].skips, [
        { assetId: null, code: "STALE_PRICE", valueUsd: "-1.000000", reason: sentence }
      ])

      const list = yield* run(`operations list --portfolio ${portfolioId}`, env)
      assert.isTrue(Exit.isSuccess(list.exit), list.text)
      for (const part of [operationId, "skipped", sentence]) assert.include(list.text, part)
      const show = yield* run(`operations show ${operationId} --portfolio ${portfolioId}`, env)
      for (const part of ["Chain 8453", "STALE_PRICE", sentence]) assert.include(show.text, part)
      const alone = yield* run(`operations show ${operationId}`, env)
      assert.strictEqual(alone.text, show.text, "its portfolio is found by its own id")
      const machines = yield* run(`operations show ${operationId} --portfolio ${portfolioId} --json`, env)
      assert.deepStrictEqual(JSON.parse(machines.text), detail)
      const none = yield* run("operations list --state awaiting_user", env)
      assert.include(none.text, "No operation fits")
    })
  )

  it.effect("of another tenant's operation nothing is shown, with its portfolio or without", () =>
    Effect.gen(function* () {
      const { operationId, portfolioId } = yield* skipped
      const { key } = yield* enrolledUser()
      const env = { BALLAST_API_KEY: key, BALLAST_URL: new URL((yield* Streams).url("")).origin }
      for (const line of ["", ` --portfolio ${portfolioId}`]) {
        const { exit, text } = yield* run(`operations show ${operationId}${line}`, env)
        assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "NotFound")
        assert.notInclude(text, sentence)
      }
    })
  )

  it.effect("without a key the command line says which variable to set", () =>
    Effect.gen(function* () {
      const { exit } = yield* run("operations list", {})
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "BALLAST_API_KEY")
    })
  )
})
