/** Portfolios with rebalance policies, for examples and properties. */
import * as fc from "fast-check"
import type { ChainId } from "#domain/values/Caip.ts"
import type { PlanInput } from "#domain/planning/Plan.ts"
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import type { Band } from "#domain/mandate/RebalancePolicy.ts"
import { base, usd } from "#test/domain/planning/examples.ts"
import { type Kind, portfolio } from "#test/domain/rebalance/portfolios.ts"

/** A relative band of ten percent, traded to its edge, on chains without gas. */
export const policy = (but: Partial<PlanPolicy> = {}): PlanPolicy => ({
  band: { kind: "relative", width: 1_000 },
  overrides: new Map(),
  tradeTo: undefined,
  minTradeUsd: 0n,
  minSweepUsd: usd("1"),
  minGasMultiple: 0n,
  isWhole: false,
  gas: new Map(),
  volatility: new Map(),
  secondsToNextCheck: 86_400,
  reserveBps: 0,
  ...but
})

export const gasOn = (operation: string, swap: string, chainId: ChainId = base) =>
  new Map([[chainId, { operationUsd: usd(operation), swapUsd: usd(swap) }]])

const band: fc.Arbitrary<Band> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("absolute" as const, "relative" as const),
    width: fc.integer({ min: 1, max: 5_000 })
  }),
  fc.record({ kind: fc.constant("auto" as const), riskAversion: fc.integer({ min: 1, max: 1_000 }) })
)

const gasCents = fc.integer({ min: 0, max: 500 }).map((cents) => BigInt(cents) * 10n ** 16n)

const drawn = fc.record({
  band,
  tradeTo: fc.constantFrom(undefined, "target" as const, "edge" as const, "half" as const),
  isWhole: fc.boolean(),
  operationUsd: gasCents,
  swapUsd: gasCents,
  reserveBps: fc.integer({ min: 0, max: 50 })
})

/** A portfolio that follows a policy; `withoutGas`: on chains where transactions are free. */
export const policyPortfolio = (kind: Kind = {}, withoutGas = false): fc.Arbitrary<PlanInput> =>
  fc.record({ input: portfolio(kind), drawn }).map(({ drawn: { operationUsd, swapUsd, ...rest }, input }) => ({
    ...input,
    policy: policy({
      ...rest,
      gas: withoutGas ? new Map() : new Map(input.chains.map(({ chainId }) => [chainId, { operationUsd, swapUsd }]))
    })
  }))
