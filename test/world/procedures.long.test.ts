/**
 * The whole way of an owner over the procedures: sign in, swap by each of the three kinds on a real chain through the
 * real guard, follow each execution by every means, and use the legacy routes with the same portfolio.
 */
import { HttpAgent } from "@ag-ui/client"
import { Effect, Redacted, Stream } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { OperationId } from "#domain/values/Ids.ts"
import { makeProcedures } from "#rpc/client.ts"
import {
  actingChain,
  type ActingOwner,
  backendQuote,
  callProcedure,
  clientSwap,
  completedSwap,
  quotedRoutes,
  signedInOwner,
  submitAction,
  tokenAddress
} from "#test/support/actingOwner.ts"
import { openEvents } from "#test/support/eventSource.ts"
import { chainBalance, finishedOperation } from "#test/support/journey.ts"
import { startWorld, type World, worldFolder } from "#test/support/World.ts"

let world: World
let folder: Awaited<ReturnType<typeof worldFolder>>

beforeAll(async () => {
  folder = await worldFolder()
  world = await startWorld(folder.dataDir, { REBALANCE_COOLDOWN_SECONDS: "0" })
})

afterAll(async () => {
  await world?.stop()
  await folder?.remove()
})

/** The world's issuer issues this token: it has no price feed, so that the guard takes attested prices for it. */
const issued = "SEAM"

const issuerTrade = ({ address }: ActingOwner, changes: Record<string, unknown> = {}) => ({
  chainId: `${actingChain}`,
  sellTokenAddress: tokenAddress(world, "USDC"),
  buyTokenAddress: tokenAddress(world, issued),
  sellAmount: "200000000",
  recipientAddress: address,
  ...changes
})

const preview = (owner: ActingOwner, changes: Record<string, unknown> = {}) =>
  callProcedure(world, "v2.portfolio.actions.previewIssuerDirectQuote", {
    body: { input: { portfolioId: owner.portfolioId, ...issuerTrade(owner, changes) } },
    token: owner.token
  })

const issuerSwap = (owner: ActingOwner, expectedReceiveAmount: string, changes: Record<string, unknown> = {}) => ({
  portfolioId: owner.portfolioId,
  kind: "swap",
  params: { provider: "issuer_direct", ...issuerTrade(owner, changes), expectedReceiveAmount }
})

/** Submits, and answers the operation. */
const started = async (owner: ActingOwner, input: unknown): Promise<OperationId> => {
  const answer = await submitAction(world, input, owner.token)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.result.data.operationId
}

/** Follows an operation from its beginning by all four means at once, to its end, and holds them against each other. */
const followed = async ({ token }: ActingOwner, operationId: OperationId) => {
  const { apiBaseUrl } = world.overview
  const authorization = `Bearer ${token}`
  const fromTheFirst = { authorization, "last-event-id": "0-0" }
  const sse = async () => {
    const events = await openEvents(`${apiBaseUrl}/v1/executions/${operationId}/stream`, fromTheFirst)
    assert.strictEqual(events.status, 200)
    return (await events.rest()).map(({ data }) => data)
  }
  const rpc = Effect.gen(function* () {
    const client = yield* makeProcedures({ baseUrl: apiBaseUrl, token: Redacted.make(token) })
    return yield* Stream.runCollect(client("v2.executions.stream", { operationId, lastEventId: "0-0" }))
  }).pipe(Effect.scoped)
  const agUi = async () => {
    const received: Array<any> = []
    const agent = new HttpAgent({
      url: `${apiBaseUrl}/v1/ai/executions/${operationId}/ag-ui-stream`,
      headers: fromTheFirst
    })
    await agent.runAgent({}, { onEvent: ({ event }) => void received.push(event) })
    return received.filter(({ type }) => type === "STATE_DELTA").map(({ rawEvent }) => rawEvent)
  }
  const [events, streamed, deltas] = await Promise.all([sse(), Effect.runPromise(rpc), agUi()])
  // A snapshot says how the operation is when its stream begins.
  const [, ...happened] = events
  assert.deepStrictEqual(JSON.parse(JSON.stringify(streamed.slice(1))), happened, "the RPC stream")
  assert.deepStrictEqual(deltas, happened, "AG-UI")
  const polled: Array<any> = []
  for (let hasMore = true; hasMore;) {
    const input = { operationId, afterSequence: polled.length, limit: 4 }
    const { body } = await callProcedure(world, "v2.executions.detail", { body: { json: input }, token })
    polled.push(...body.result.data.json.timeline)
    hasMore = body.result.data.json.hasMore
  }
  assert.deepStrictEqual(
    polled.map(({ message: _, ...one }) => one),
    happened.map(({ kind, payload, sequence, ts }) => ({ sequence, ts, kind, payload })),
    "polling"
  )
  const result = await callProcedure(world, "v2.executions.result", { body: { json: { operationId } }, token })
  assert.deepStrictEqual(result.body.result.data.json.result, happened.at(-1).payload)
  return happened
}

const seam = (owner: ActingOwner) => chainBalance(world, owner.vault, issued)
const usdc = (owner: ActingOwner) => chainBalance(world, owner.vault, "USDC")

describe("an owner who has signed in", () => {
  it("swaps by each of the three kinds, every execution is answered alike by all four means, and v1 obeys too", async () => {
    const owner = await signedInOwner(world)
    const promised = (await preview(owner)).body.result.data
    assert.closeTo(Number(promised.estimatedReceiveAmount) / 1e18, 200 / 1.5, 0.5)
    assert.closeTo(Number(promised.priceUsd), 1.5, 0.01)
    for (const [kind, input, sold] of [
      ["issuer_direct", async () => issuerSwap(owner, promised.estimatedReceiveAmount), 200_000_000n],
      ["swap_backend_quote", async () => backendQuote(world, owner), 1_000_000_000n],
      ["swap", async () => clientSwap(owner, (await quotedRoutes(world, owner, "500000000"))[0]), 500_000_000n]
    ] as const) {
      const before = await usdc(owner)
      const operationId = await started(owner, await input())
      const happened = await followed(owner, operationId)
      await completedSwap(world, owner, operationId)
      const { payload } = happened.at(-1)!
      assert.include(JSON.stringify(payload), "userOpHash", kind)
      const spent = before - (await usdc(owner))
      assert.isTrue(spent <= sold && spent > sold - 10n, `${kind} spent ${spent} of ${sold}`)
    }
    assert.strictEqual(`${await seam(owner)}`, promised.estimatedReceiveAmount)

    const status = await world.api("GET", `/v1/portfolio/${owner.portfolioId}/automation/status`)
    assert.deepInclude(status.body.data, { status: "paused", hasAutomation: true })
    const triggered = await world.api("POST", `/v1/portfolio/${owner.portfolioId}/rebalance/schedule/trigger`, {
      skipScheduleValidation: true
    })
    assert.strictEqual(triggered.status, 200, JSON.stringify(triggered.body))
    const run = await finishedOperation(world, owner.portfolioId, triggered.body.data.workflowId)
    assert.strictEqual(run.state, "completed", JSON.stringify(run))
  })

  it("sells back to the issuer, and no fault of the issuer moves anything", async () => {
    const owner = await signedInOwner(world)
    const bought = (await preview(owner)).body.result.data.estimatedReceiveAmount
    await completedSwap(world, owner, await started(owner, issuerSwap(owner, bought)))
    assert.strictEqual(`${await seam(owner)}`, bought)
    const back = {
      sellTokenAddress: tokenAddress(world, issued),
      buyTokenAddress: tokenAddress(world, "USDC"),
      sellAmount: bought
    }
    const before = await usdc(owner)
    const paid = (await preview(owner, back)).body.result.data.estimatedReceiveAmount
    await completedSwap(world, owner, await started(owner, issuerSwap(owner, paid, back)))
    assert.strictEqual(await seam(owner), 0n)
    assert.strictEqual((await usdc(owner)) - before, BigInt(paid))

    // The issuer signs a worse price than it quoted: its word is refused before anything is sent.
    const promised = (await preview(owner)).body.result.data.estimatedReceiveAmount
    const held = await usdc(owner)
    await world.control("/faults", { target: "ondo", mode: "lying" })
    const cheated = await finishedOperation(world, owner.portfolioId, await started(owner, issuerSwap(owner, promised)))
    assert.strictEqual(cheated.state, "failed")
    assert.match(cheated.error, /more than 100 basis points from the/u)
    for (const [mode, status, code] of [
      ["closed", 400, "API_400"],
      ["error", 503, "API_507"],
      ["truncated", 503, "API_507"]
    ] as const) {
      await world.control("/faults", { target: "ondo", mode })
      const answer = await preview(owner)
      assert.deepStrictEqual([answer.status, answer.body.error.code], [status, code], JSON.stringify(answer.body))
    }
    await world.control("/faults", { target: "ondo", mode: "ok" })
    assert.strictEqual(await usdc(owner), held)
    assert.strictEqual(await seam(owner), 0n)
  })
})
