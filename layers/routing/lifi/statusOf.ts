/** LI.FI's status in our words. `DONE` says that it ended, not that it went well: the substatus does. */
import type { RouteStatus, SentTransfer } from "#domain/trading/Routing.ts"
import type { LifiStatus } from "#layers/routing/lifi/wire.ts"

const hash = /^0x[0-9a-fA-F]{64}$/u

export const statusOf = (
  sent: SentTransfer,
  { receiving, status, substatus, substatusMessage }: LifiStatus
): RouteStatus => {
  const detail = [status, substatus, substatusMessage].filter((text) => text !== undefined).join(" ")
  if (status === "FAILED") return { _tag: "Failed", reason: detail }
  if (status !== "DONE") return { _tag: "Pending", detail }
  const txHash = receiving?.txHash?.toLowerCase()
  // An end without the transaction that proves it is none yet.
  if (txHash === undefined || !hash.test(txHash)) return { _tag: "Pending", detail: `${detail}, without a transaction` }
  if (substatus === "REFUNDED") return { _tag: "Refunded", txHash }
  if (substatus === "PARTIAL") return { _tag: "Partial", txHash }
  if (substatus !== undefined && substatus !== "COMPLETED") return { _tag: "Pending", detail }
  return receiving?.chainId === sent.toChainId ? { _tag: "Delivered", txHash } : { _tag: "Pending", detail }
}
