/** What is signed is stored before it is sent, lands once, and is recorded as the chain shows it. */
import { netOf } from "#test/simulation/ports/receipts.ts"
import type { Look } from "#test/simulation/invariants/Invariants.ts"
import type { RelayedRow } from "#test/simulation/invariants/Snapshot.ts"

const attemptOf = ({ attempt, chain, operation }: RelayedRow) => `${operation} ${chain} ${attempt}`

const text = (deltas: ReadonlyArray<{ readonly assetId: string; readonly raw: string | bigint }>) =>
  deltas
    .map(({ assetId, raw }) => `${assetId} ${raw}`)
    .sort()
    .join("; ")

const checkRow = ({ require, seen, world }: Look, row: RelayedRow): void => {
  const key = attemptOf(row)
  const before = seen.relayed.get(key)
  require("a signed attempt keeps its nonce and what it carries", before === undefined ||
    (before.nonce === row.nonce && before.lane === row.lane && before.subject === row.subject), () =>
    `${key} had nonce ${before?.nonce} of ${before?.lane} and has ${row.nonce} of ${row.lane}`)
  require("a recorded receipt stays", before === undefined ||
    before.status === "signed" ||
    before.status === row.status, () => `${key} was ${before?.status} and is ${row.status}`)
  if (row.status === "signed" || before?.status === row.status) return
  const carrier = row.receipt === null ? undefined : world.chain(row.chain).find(row.receipt.txHash)
  if (row.status === "succeeded") {
    require("a receipt says what the chain shows", carrier !== undefined &&
      carrier.execution.success &&
      text(netOf(carrier, row.account)) === text(row.receipt!.deltas), () =>
      `${key} is recorded as carried by ${row.receipt?.txHash}, which the chain does not bear out`)
  } else {
    const landed = world.chain(row.chain).carrierOf(row.subject)
    require("what is recorded as reverted moved nothing", landed === undefined || !landed.execution.success, () =>
      `${key} is recorded as reverted and landed in ${landed?.txHash}`)
  }
}

/** Successful actions of each operation on each chain, each with the one that carried it. */
const checkLanded = ({ require, seen, world }: Look): void => {
  for (const chain of world.chains.values()) {
    const landed = new Map<string, string>()
    for (const { execution, payload, subject, txHash } of chain.inclusions) {
      if (payload?._tag !== "UserOperation" || !execution.success || subject === null) continue
      const row = seen.bySubject.get(`${chain.chainId} ${subject}`)
      require("nothing lands that was not signed and stored", row !== undefined, () => `${txHash} on ${chain.chainId}`)
      const before = landed.get(row!.operation)
      require("an operation takes effect once on each chain", before === undefined, () =>
        `${row!.operation} on chain ${chain.chainId} landed in ${before} and in ${txHash}`)
      landed.set(row!.operation, txHash)
    }
  }
}

export const checkRelays = (look: Look): void => {
  const { seen, snapshot } = look
  for (const row of snapshot.relayed) {
    for (const hash of row.hashes) seen.signed.add(hash)
    seen.bySubject.set(`${row.chain} ${row.subject}`, row)
  }
  for (const row of snapshot.relayed) {
    checkRow(look, row)
    seen.relayed.set(attemptOf(row), row)
  }
  checkLanded(look)
}
