/** What is signed is stored before it is sent, lands once, and is recorded as the chain shows it. */
import { netOf } from "#test/simulation/ports/receipts.ts"
import type { Observation } from "#test/simulation/invariants/Observation.ts"
import type { RelayedRow } from "#test/simulation/invariants/Snapshot.ts"
import type { World } from "#test/simulation/world/World.ts"

const attemptOf = ({ attempt, chain, operation }: RelayedRow) => `${operation} ${chain} ${attempt}`

const text = (deltas: ReadonlyArray<{ readonly assetId: string; readonly raw: string | bigint }>) =>
  deltas
    .map(({ assetId, raw }) => `${assetId} ${raw}`)
    .sort()
    .join("; ")

const checkRow = ({ require, seen, world }: Observation, row: RelayedRow): void => {
  const key = attemptOf(row)
  const before = seen.relayed.get(key)
  require("a signed attempt keeps its nonce and what it includes", before === undefined ||
    (before.nonce === row.nonce && before.relayer === row.relayer && before.actionHash === row.actionHash), () =>
    `${key} had nonce ${before?.nonce} of ${before?.relayer} and has ${row.nonce} of ${row.relayer}`)
  require("a recorded receipt stays", before === undefined ||
    before.status === "signed" ||
    before.status === row.status, () => `${key} was ${before?.status} and is ${row.status}`)
  if (before === undefined || before.hashes.length !== row.hashes.length) checkBytes(require, world, row)
  if (row.status === "signed" || before?.status === row.status) return
  const chain = world.chain(row.chain)
  const part = chain
    .find(row.receipt?.txHash ?? "")
    ?.execution.parts.find(({ actionHash }) => actionHash === row.actionHash)
  if (row.status === "succeeded") {
    require("a receipt says what the chain shows", part !== undefined &&
      part.success &&
      text(netOf(part, row.account)) === text(row.receipt!.deltas), () =>
      `${key} is recorded as included by ${row.receipt?.txHash}, which the chain does not bear out`)
  } else if (row.receipt?.isBundleReverted === true) {
    const own = row.hashes.flatMap((hash) => chain.find(hash) ?? [])
    require("a bundle that is recorded as reverted had several operations, and included none", row.actionCount > 1 &&
      own.every(({ execution }) => !execution.included), () =>
      `${key} is recorded as reverted in ${own[0]?.txHash}, which includes ${row.actionCount}`)
  } else {
    const landed = chain.bridgeAssetOf(row.actionHash)
    require("what is recorded as reverted moved nothing", landed === undefined || !landed.part.success, () =>
      `${key} is recorded as reverted and landed in ${landed?.inclusion.txHash}`)
  }
}

/** Whatever lands of a nonce includes the actions that are stored with it, and no others. */
const checkBytes = (
  require: Observation["require"],
  world: World,
  { actionCount, hashes, members }: RelayedRow
): void => {
  const stored = members.toSorted().join()
  for (const hash of hashes)
    require("a stored transaction includes what its actions say", members.length === actionCount &&
      world.signed.get(hash)?.toSorted().join() === stored, () =>
      `${hash} includes ${world.signed.get(hash)?.join(", ")}; stored are ${actionCount}: ${members.join(", ")}`)
}

/** Successful actions of each operation on each chain, each with the one that included it. */
const checkLanded = ({ require, seen, world }: Observation): void => {
  for (const chain of world.chains.values()) {
    const landed = new Map<string, string>()
    const actionHashes = new Set<string>()
    for (const { execution, txHash } of chain.inclusions)
      for (const { actionHash, isOperation, isUnattested, success } of execution.parts) {
        if (!isOperation || !success) continue
        const row = seen.byActionHash.get(`${chain.chainId} ${actionHash}`)
        require("nothing lands that was not signed and stored", row !== undefined, () =>
          `${txHash} on ${chain.chainId}`)
        require("an action lands at most once", !actionHashes.has(actionHash), () =>
          `${actionHash} on chain ${chain.chainId}, the last time in ${txHash}`)
        actionHashes.add(actionHash)
        require("what needs an attested price is traded with one", !isUnattested, () =>
          `${actionHash} on chain ${chain.chainId} in ${txHash}`)
        const before = landed.get(row!.operation)
        require("an operation takes effect once on each chain", before === undefined, () =>
          `${row!.operation} on chain ${chain.chainId} landed in ${before} and in ${txHash}`)
        landed.set(row!.operation, txHash)
      }
  }
}

export const checkRelays = (observation: Observation): void => {
  const { seen, snapshot } = observation
  for (const row of snapshot.relayed) {
    for (const hash of row.hashes) seen.signed.add(hash)
    seen.byActionHash.set(`${row.chain} ${row.actionHash}`, row)
  }
  for (const row of snapshot.relayed) {
    checkRow(observation, row)
    seen.relayed.set(attemptOf(row), row)
  }
  checkLanded(observation)
}
