import type { Plan, PlanInput } from "#domain/planning/Plan.ts"

/** The portfolio after every leg sold what it says and bought what it expects. */
export const applyPlan = (input: PlanInput, plan: Plan): PlanInput => ({
  ...input,
  chains: input.chains.map((chain, at) => {
    const legs = plan.chains[at]!.legs
    return {
      ...chain,
      holdings: chain.holdings.map((holding) => {
        let balanceRaw = holding.balanceRaw
        for (const leg of legs) {
          if (leg.sell === holding.assetId) balanceRaw -= leg.sellAmountRaw
          if (leg.buy === holding.assetId) balanceRaw += leg.expectedBuyRaw
        }
        return { ...holding, balanceRaw }
      })
    }
  })
})
