/** Portfolios whose chains may exchange value, and what becomes of their plans. */
import * as fc from "fast-check"
import { type AssetId, chainIdOf } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Plan, PlanInput, TransferLeg } from "#domain/planning/Plan.ts"
import { applyPlan } from "#test/domain/planning/applyPlan.ts"
import { assetAt, type Kind, portfolio } from "#test/domain/rebalance/portfolios.ts"

/** The first asset of each chain is the one by which value comes and goes: it is priced and may be traded. */
export const connected = (kind: Kind = {}): fc.Arbitrary<PlanInput> =>
  fc
    .record({
      input: portfolio(kind),
      minCents: fc.bigInt({ min: 500n, max: 20_000n }),
      feeBps: fc.integer({ min: 0, max: 50 })
    })
    .filter(({ input }) => input.allocation.length > 0)
    .map(({ feeBps, input, minCents }) => ({
      ...input,
      // Two sales and a transfer together cost less than two percent: what the minimum transfer is reckoned for.
      feeBps: input.feeBps % 51,
      chains: input.chains.map((chain) => ({
        ...chain,
        holdings: chain.holdings.map((holding, index) =>
          index === 0
            ? {
                ...holding,
                priceUsd: holding.priceUsd ?? Decimal.one,
                priceIsStale: false,
                isBlocked: false,
                isAuthorized: true
              }
            : holding
        )
      })),
      transfers: {
        assets: new Map(input.chains.map(({ chainId }) => [chainId, assetAt(chainId, 0)])),
        feeBps,
        minUsd: (minCents * Decimal.one) / 100n
      }
    }))

export const transfersOf = (planned: Plan): ReadonlyArray<TransferLeg> =>
  planned.chains.flatMap(({ transfers }) => transfers)

const change = (
  input: PlanInput,
  of: (assetId: AssetId) => { readonly balance: bigint; readonly incoming: bigint }
): PlanInput => ({
  ...input,
  chains: input.chains.map((chain) => ({
    ...chain,
    holdings: chain.holdings.map((holding) => {
      const { balance, incoming } = of(holding.assetId)
      return {
        ...holding,
        balanceRaw: holding.balanceRaw + balance,
        incomingRaw: (holding.incomingRaw ?? 0n) + incoming
      }
    })
  }))
})

/** The portfolio once legs are done and transfers have left, and none has arrived. */
export const inTransit = (input: PlanInput, planned: Plan): PlanInput => {
  const transfers = transfersOf(planned)
  return change(applyPlan(input, planned), (assetId) => ({
    balance: -transfers.reduce((sum, { amountRaw, sell }) => sum + (sell === assetId ? amountRaw : 0n), 0n),
    incoming: transfers.reduce((sum, { buy, expectedRaw }) => sum + (buy === assetId ? expectedRaw : 0n), 0n)
  }))
}

/** Everything that was on its way has arrived. */
export const arrived = (input: PlanInput): PlanInput => ({
  ...input,
  chains: input.chains.map((chain) => ({
    ...chain,
    holdings: chain.holdings.map((holding) => ({
      ...holding,
      balanceRaw: holding.balanceRaw + (holding.incomingRaw ?? 0n),
      incomingRaw: 0n
    }))
  }))
})

/** How far each chain is from its share of everything, the greatest; US dollars (wad). */
export const farthest = (input: PlanInput, { chains }: Plan): bigint => {
  const totalUsd = chains.reduce((sum, { valueUsd }) => sum + valueUsd!, 0n)
  const weightOn = (chainId: number) =>
    input.allocation.reduce((sum, { assetId, weight }) => sum + (chainIdOf(assetId) === chainId ? weight : 0), 0)
  return chains.reduce((most, { chainId, valueUsd }) => {
    const off = valueUsd! - (totalUsd * BigInt(weightOn(chainId))) / 10_000n
    const far = off < 0n ? -off : off
    return far > most ? far : most
  }, 0n)
}
