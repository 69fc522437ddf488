/** The planner of the service as a rule: what it plans each hour under a rebalance policy is what is traded. */
import { assets } from "#bench/policies/paths.ts"
import type { CostLevel, Rule } from "#bench/policies/simulate.ts"
import { type AssetId, type ChainId, erc20, type EvmAddress } from "#domain/Caip.ts"
import type { PlanInput } from "#domain/planning/Plan.ts"
import type { PlanPolicy } from "#domain/planning/PlanPolicy.ts"
import { plan } from "#domain/planning/planRebalance.ts"
import type { Band } from "#domain/RebalancePolicy.ts"

const chainId = 1 as ChainId
const assetIds = assets.map((_, index) =>
  erc20(chainId, `0x${(index + 1).toString(16).padStart(40, "0")}` as EvmAddress)
)
const indexOf = new Map<AssetId, number>(assetIds.map((assetId, index) => [assetId, index]))

/** To a billionth of a dollar: far below every threshold. */
const wad = (usd: number): bigint => BigInt(Math.round(usd * 1e9)) * 1_000_000_000n
const toNumber = (usdWad: bigint): number => Number(usdWad / 1_000_000_000n) / 1e9

const one = wad(1)

export const ballastRule = (band: Band, { feeBps, gasUsd }: CostLevel): Rule => {
  const policy: PlanPolicy = {
    band,
    overrides: new Map(),
    tradeTo: undefined,
    minTradeUsd: one,
    minSweepUsd: one,
    minGasMultiple: 0n,
    isWhole: false,
    gas: new Map([[chainId, { operationUsd: 0n, swapUsd: wad(gasUsd) }]]),
    volatility: new Map(assets.map(({ volatility }, index) => [assetIds[index]!, wad(volatility)])),
    secondsToNextCheck: 3_600,
    reserveBps: 0
  }
  const allocation = assets.map(({ weight }, index) => ({ assetId: assetIds[index]!, weight }))
  return (_hour, values) => {
    const input: PlanInput = {
      // Tokens worth a dollar each: the price is in the balance.
      chains: [
        {
          chainId,
          available: true,
          holdings: values.map((value, index) => ({
            assetId: assetIds[index]!,
            decimals: 18,
            balanceRaw: wad(value),
            priceUsd: one,
            priceIsStale: false,
            isBlocked: false,
            isAuthorized: true
          }))
        }
      ],
      allocation,
      preferences: { thresholdUsd: one },
      feeBps,
      policy
    }
    return plan(input).chains[0]!.legs.map(({ buy, sell, valueUsd }) => ({
      from: indexOf.get(sell)!,
      to: indexOf.get(buy)!,
      usd: toNumber(valueUsd)
    }))
  }
}
