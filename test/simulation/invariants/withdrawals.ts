/** A withdrawal ends as the chain carried it out: completed exactly when it landed, and with what arrived. */
import { chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { netOf } from "#test/simulation/ports/receipts.ts"
import type { Observation } from "#test/simulation/invariants/Observation.ts"
import { withdrawalKey } from "#test/simulation/world/Accounts.ts"

export const checkWithdrawals = ({ require, seen, snapshot, world }: Observation): void => {
  for (const row of snapshot.withdrawals) {
    const before = seen.withdrawals.get(row.operation)
    seen.withdrawals.set(row.operation, row)
    if (row.finished === null || before?.finished === row.finished) continue
    const chain = world.chain(chainIdOf(row.account as AccountId))
    const including = chain.find(chain.accounts.withdrawn.get(withdrawalKey(row.account, row.nonce)) ?? "")
    if (row.state !== "completed") {
      require("a failed withdrawal moved nothing", including === undefined, () =>
        `${row.operation} landed in ${including?.txHash}`)
      continue
    }
    const recipient = including?.execution.deltas.find(
      ({ account, raw }) => account !== row.account && account !== "pools" && raw > 0n
    )
    const arrived = including === undefined ? [] : netOf(including.execution, recipient?.account ?? "")
    require("a completed withdrawal landed, and says what arrived", including !== undefined &&
      (row.delivered ?? []).every(
        ({ amountRaw, assetId }) => arrived.find((one) => one.assetId === assetId)?.raw.toString() === amountRaw
      ), () => `${row.operation} says ${JSON.stringify(row.delivered)}; the chain: ${including?.txHash}`)
  }
}
