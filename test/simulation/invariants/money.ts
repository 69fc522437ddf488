/** No unit of any asset comes from nowhere or goes nowhere, on any chain. */
import type { Observation } from "#test/simulation/invariants/Observation.ts"

export const checkMoney = ({ require, world }: Observation): void => {
  const sums = new Map<string, bigint>()
  for (const { accounts } of world.chains.values())
    for (const [key, raw] of accounts.all) {
      const assetId = key.slice(key.indexOf(" ") + 1)
      sums.set(assetId, (sums.get(assetId) ?? 0n) + raw)
      require("no balance is below zero", raw >= 0n, () => `${key} holds ${raw}`)
    }
  for (const [assetId, minted] of world.included())
    require("value is conserved", sums.get(assetId) === minted, () => `${assetId}: ${sums.get(assetId)} of ${minted}`)
}
