/**
 * Whole sequences of runs over portfolios of up to three chains, any of whose assets may be blocked, stale, unpriced or
 * not authorized, the assets by which value moves between chains included.
 */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Holding, Plan, PlanInput } from "#domain/planning/Plan.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import { minTransferUsd } from "#domain/planning/transfers/planTransfers.ts"
import { exactly, ledgerOf, mayBuy, maySell, toWad, valueOf } from "#test/domain/planning/ledgerOracle.ts"
import { assetAt, portfolio } from "#test/domain/rebalance/portfolios.ts"
import { arrived, inTransit, transfersOf } from "#test/domain/planning/transferPlans.ts"

const numRuns = 1_500
/** Runs after which a portfolio on which nothing else happens must be at rest. */
const maxRuns = 4

const troubled: fc.Arbitrary<PlanInput> = fc
  .record({
    input: portfolio({ isFine: true }),
    minCents: fc.bigInt({ min: 500n, max: 20_000n }),
    feeBps: fc.integer({ min: 0, max: 50 })
  })
  .filter(({ input }) => input.allocation.length > 0)
  .map(({ feeBps, input, minCents }) => ({
    ...input,
    feeBps: input.feeBps % 51,
    transfers: {
      assets: new Map(input.chains.map(({ chainId }) => [chainId, assetAt(chainId, 0)])),
      feeBps,
      minUsd: (minCents * Decimal.one) / 100n
    }
  }))

/** Worlds where nothing can be sent on some of the lanes between chains. */
const refusing: fc.Arbitrary<PlanInput> = fc
  .record({ input: troubled, closed: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }) })
  .map(({ closed, input }) => {
    const ids = input.chains.map(({ chainId }) => chainId)
    const refused = ids
      .flatMap((from) => ids.map((to) => ({ from, to })))
      .filter(({ from, to }, index) => from !== to && closed[index])
    return { ...input, transfers: { ...input.transfers!, refused } }
  })

interface Run {
  readonly input: PlanInput
  readonly planned: Plan
}

/** The runs until nothing is left to do, each on what the one before left; at most `maxRuns` and one. */
const runsOf = (start: PlanInput): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  for (let input = start; runs.length <= maxRuns;) {
    const planned = plan(input)
    runs.push({ input, planned })
    if (planned.chains.every(({ legs, transfers }) => legs.length + transfers.length === 0)) break
    input = arrived(inTransit(input, planned))
  }
  return runs
}

const check = (holds: (runs: ReadonlyArray<Run>) => void) =>
  fc.assert(
    fc.property(troubled, (input) => holds(runsOf(input))),
    { numRuns }
  )

const eachRun = (holds: (run: Run) => void) => check((runs) => runs.forEach(holds))

const holdingsOf = ({ chains }: PlanInput): ReadonlyArray<Holding> => chains.flatMap(({ holdings }) => holdings)

const totalOf = (input: PlanInput): bigint => toWad(ledgerOf(input).reduce((sum, { heldUsd }) => sum + heldUsd, 0n))

/** What whole raw units and integer dollars may be off by in these portfolios: a millionth of a dollar. */
const rounding = Decimal.one / 1_000_000n

describe("plan: runs over chains with assets that cannot be traded", () => {
  it("no transfer brings a chain more than its buyable targets lack beyond what it can sell itself", () =>
    eachRun(({ input, planned }) => {
      for (const { chainId, excessUsd, lackUsd } of ledgerOf(input)) {
        const incoming = transfersOf(planned).filter(({ toChainId }) => toChainId === chainId)
        const arrivingUsd = incoming.reduce((sum, { buy, expectedRaw }) => {
          const holding = holdingsOf(input).find(({ assetId }) => assetId === buy)!
          return sum + valueOf({ ...holding, balanceRaw: expectedRaw, incomingRaw: 0n })
        }, 0n)
        if (incoming.length > 0) assert.isTrue(arrivingUsd <= lackUsd - excessUsd + exactly(rounding))
      }
    }))

  it("comes to rest within four runs: no livelock", () =>
    check((runs) => {
      const { planned } = runs.at(-1)!
      assert.deepStrictEqual(transfersOf(planned), [])
      assert.isEmpty(planned.chains.flatMap(({ legs }) => legs))
    }))

  it("no value moves twice: a chain that has received never sends, and one that has sent never receives", () =>
    check((runs) => {
      const transfers = runs.flatMap(({ planned }) => transfersOf(planned))
      const senders = new Set(transfers.map(({ fromChainId }) => fromChainId))
      for (const { toChainId } of transfers) assert.isFalse(senders.has(toChainId))
    }))

  it("states as the value of a target what is held, whatever the plan moves", () =>
    eachRun(({ input, planned }) => {
      const held = new Map(holdingsOf(input).map((holding) => [holding.assetId, holding]))
      for (const { targets, valueUsd } of planned.chains) {
        for (const target of targets) {
          if (target.valueUsd === null) continue
          const holding = held.get(target.assetId)
          assert.strictEqual(target.valueUsd, holding === undefined ? 0n : toWad(valueOf(holding)))
        }
        assert.strictEqual(
          valueUsd,
          targets.reduce((sum, target) => sum + (target.valueUsd ?? 0n), 0n)
        )
      }
    }))

  it("states what each chain really stays off its share by", () =>
    eachRun(({ input, planned }) => {
      if (holdingsOf(input).some(({ priceUsd }) => priceUsd === null)) return
      const ledgers = ledgerOf(input)
      for (const { chainId, skips } of planned.chains) {
        const { heldUsd, shareUsd } = ledgers.find((ledger) => ledger.chainId === chainId)!
        const moved = transfersOf(planned).reduce(
          (sum, { fromChainId, toChainId, valueUsd }) =>
            sum + (toChainId === chainId ? valueUsd : 0n) - (fromChainId === chainId ? valueUsd : 0n),
          0n
        )
        const offUsd = toWad(heldUsd - shareUsd) + moved
        const skip = skips.find(({ assetId, sell }) => assetId === null && sell === undefined)
        const slack = offUsd - (skip?.valueUsd ?? 0n)
        const least = skip === undefined ? input.preferences.thresholdUsd + Decimal.one / 100n : 0n
        assert.isTrue((slack < 0n ? -slack : slack) <= least + rounding)
      }
    }))

  it("leaves a chain above its share only where nothing of it may be sold, or nothing may be bought with it", () =>
    check((runs) => {
      const { input, planned } = runs.at(-1)!
      if (holdingsOf(input).some(({ priceUsd }) => priceUsd === null)) return
      const least = exactly(minTransferUsd(totalOf(input), input.transfers!, input.preferences.thresholdUsd))
      const ledgers = ledgerOf(input).filter(({ isConnected }) => isConnected)
      const bridgeAssets = new Set(input.transfers!.assets.values())
      const isBuyable = holdingsOf(input).every((holding) => !bridgeAssets.has(holding.assetId) || mayBuy(holding))
      // Two receivers may each lack a little less than the least, and a plan starts to send a fiftieth above it.
      const most = (least * 21n) / 10n
      const sends = ledgers.some(({ excessUsd, lackUsd }) => excessUsd - lackUsd > most)
      const receives = ledgers.some(({ excessUsd, lackUsd }) => lackUsd - excessUsd > most)
      if (isBuyable) assert.isFalse(sends && receives, `${planned.chains.length} chains`)
    }))

  it("names an obstacle only of an asset that has it", () =>
    eachRun(({ input, planned }) => {
      const held = new Map(holdingsOf(input).map((holding) => [holding.assetId, holding]))
      for (const { assetId, code } of planned.chains.flatMap(({ skips }) => skips)) {
        const holding = assetId === null ? undefined : held.get(assetId)
        if (holding === undefined) continue
        if (code === "ASSET_BLOCKED") assert.isTrue(holding.isBlocked)
        if (code === "STALE_PRICE") assert.isTrue(holding.priceIsStale)
        if (code === "NOT_AUTHORIZED") assert.isFalse(holding.isAuthorized)
        if (code === "MISSING_PRICE") assert.isNull(holding.priceUsd)
        if (code === "NO_COUNTERPART") assert.isTrue(maySell(holding))
      }
    }))
})

describe("plan: runs over chains some of whose ways are refused", () => {
  const checkRefusing = (holds: (runs: ReadonlyArray<Run>) => void) =>
    fc.assert(
      fc.property(refusing, (input) => holds(runsOf(input))),
      { numRuns }
    )

  it("nothing is sent on a refused way, nothing moves twice, and all comes to rest within four runs", () =>
    checkRefusing((runs) => {
      const { refused = [] } = runs[0]!.input.transfers!
      const sent = runs.flatMap(({ planned }) => transfersOf(planned))
      for (const { fromChainId, toChainId } of sent)
        assert.isFalse(refused.some(({ from, to }) => from === fromChainId && to === toChainId))
      const senders = new Set(sent.map(({ fromChainId }) => fromChainId))
      for (const { toChainId } of sent) assert.isFalse(senders.has(toChainId))
      assert.isEmpty(runs.at(-1)!.planned.chains.flatMap(({ legs, transfers }) => [...legs, ...transfers]))
    }))

  it("a chain to which no way is open waits for nothing", () =>
    checkRefusing((runs) => {
      for (const { input, planned } of runs) {
        const ids = input.chains.map(({ chainId }) => chainId)
        for (const { chainId, skips } of planned.chains) {
          const isShut = ids.every(
            (from) =>
              from === chainId || input.transfers!.refused!.some((way) => way.from === from && way.to === chainId)
          )
          if (isShut) assert.isFalse(skips.some(({ code }) => code === "IN_TRANSIT"))
        }
      }
    }))
})
