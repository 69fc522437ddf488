/** User operations on a simulated chain. */
import { Effect, Layer, Option } from "effect"
import type { AccountId, ChainId } from "#domain/values/Caip.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { type Bundle, UserOperations } from "#domain/relay/UserOperations.ts"
import { AuthorizationRequired, SwapBatches, SimulationFailed, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, PreparedTransaction } from "#domain/relay/Transaction.ts"
import { onChain, shownHead } from "#test/simulation/ports/link.ts"
import { findOperation } from "#test/simulation/ports/receipts.ts"
import { relayersOf } from "#test/simulation/ports/SimulatedRelayer.ts"
import { attestedIn } from "#test/simulation/world/attested.ts"
import type { Chain } from "#test/simulation/world/Chain.ts"
import {
  type Payload,
  readPayloads,
  actionHashOf,
  type UserOperation,
  writePayloads
} from "#test/simulation/world/Payload.ts"
import type { World } from "#test/simulation/world/World.ts"

/** How long after the latest block a swap may still be included. */
const lifetimeSeconds = 1_200

/** What is signed for a payload, as of now; fails when the chain says that it would not take effect. */
export const prepareOn = Effect.fnUntraced(function* (
  world: World,
  chainId: ChainId,
  payloadOn: (chain: Chain) => Payload
) {
  const [first, ...others] = relayersOf(world)
  const found = yield* onChain(world, chainId, (chain) => {
    const payload = payloadOn(chain)
    const { parts, reason } = chain.simulate([payload])
    const prepared: PreparedTransaction = {
      _tag: "Evm",
      chainId,
      accountId: payload.accountId,
      actionHash: actionHashOf(payload),
      to: first,
      callData: writePayloads([payload]),
      gasLimit: 100_000n,
      ...(mayShare(payload) ? { bundleGas: world.bundleGas } : {}),
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      chainNonce: chain.mempool.pending(first),
      laneNonces: others.map((relayer) => ({ relayer, nonce: chain.mempool.pending(relayer) })),
      fromBlock: BigInt(chain.head())
    }
    return { prepared, refusal: parts[0] === undefined ? reason : parts[0].success ? undefined : parts[0].reason }
  })
  if (found.refusal === undefined) return found.prepared
  return yield* found.refusal.startsWith("AA25")
    ? new ChainUnavailable({ chainId, reason: `the account changed meanwhile (${found.refusal})` })
    : new SimulationFailed({ chainId, reason: found.refusal })
})

/** What leaves an account, for its owner or another chain, goes alone. */
const mayShare = (payload: Payload): boolean =>
  payload._tag === "UserOperation" && payload.settlement === null && payload.transfers.length === 0

type Operations = readonly [PreparedTransaction, ...ReadonlyArray<PreparedTransaction>]

const payloadsOf = (operations: ReadonlyArray<PreparedTransaction>) =>
  operations.flatMap(({ callData }) => readPayloads(callData))

/** The operations of which the chain says that it would include them in one transaction. */
const bundleOn = (chain: Chain, operations: Operations): Bundle => {
  let kept = operations.map((_, index) => index)
  for (;;) {
    const bundled = kept.map((index) => operations[index]!)
    const { culprit, included } = chain.simulate(payloadsOf(bundled))
    if (included || bundled.length === 0) {
      const transaction = {
        ...operations[0],
        ...bundled[0],
        callData: writePayloads(payloadsOf(bundled)),
        gasLimit: bundled.reduce((sum, { gasLimit }) => sum + gasLimit, 0n)
      }
      return { transaction, kept }
    }
    kept = kept.filter((_, index) => index !== culprit)
  }
}

/** Reads when the price was attested of what needs one; null where nothing does. */
const attestedAt = Effect.fnUntraced(function* (world: World, { chainId, swaps }: SwapBatch) {
  const wanted = attestedIn(swaps)
  if (wanted.length === 0 || world.sabotage === "trades unattested") return null
  if (world.harness.now >= world.attestorDownUntil)
    return Math.floor(world.harness.now / 1000) - world.keysAndPrices.between(0, 60)
  world.trace.note("fault: no price is attested")
  const unattested = wanted.map((assetId) => ({ assetId, reason: "No attested price (STALE): nobody attests" }))
  return yield* new SimulationFailed({ chainId, reason: "no attested price", unattested })
})

/** The account is as it was read for the batch, by a node that has reached that block. */
const requireUnmoved = Effect.fnUntraced(function* (
  world: World,
  { chainId, madeFrom }: SwapBatch,
  accountId: AccountId
) {
  if (madeFrom === undefined) return
  const reason = yield* onChain(world, chainId, (chain) => {
    const block = shownHead(world, chain)
    if (BigInt(block) < madeFrom.blockNumber) return `the node is at block ${block}`
    const acted = BigInt(chain.operationsAt(accountId, block))
    return madeFrom.operations === undefined || acted === madeFrom.operations ? undefined : "the account has acted"
  })
  if (reason === undefined) return
  world.trace.note("chain: a batch is made from an old reading", reason)
  return yield* new ChainUnavailable({ chainId, reason })
})

const operationOf = (
  { authorization, chainId, operationId, settlement, swaps, transfers = [] }: SwapBatch,
  attested: number | null,
  chain: Chain
) => {
  const { accountId } = authorization.chains.find((one) => one.chainId === chainId)!
  const operation: UserOperation = {
    _tag: "UserOperation",
    accountId,
    operationId: operationId ?? null,
    nonce: chain.accounts.nonces.get(accountId) ?? 0,
    deadline: chain.blockSeconds + lifetimeSeconds,
    attestedAt: attested,
    swaps,
    transfers,
    settlement:
      settlement === undefined
        ? null
        : { message: settlement.message, assetId: settlement.assetId, keepRaw: settlement.keepRaw }
  }
  return operation
}

/** A receipt that is not what the chain shows. */
const oneUnitMore = (receipt: ActionReceipt): ActionReceipt => ({
  ...receipt,
  deltas: receipt.deltas.map(({ assetId, raw }) => ({ assetId, raw: raw + 1n }))
})

export const simulatedExecution = (world: World) =>
  Layer.succeed(
    SwapBatches,
    SwapBatches.preparedBy(
      Effect.fnUntraced(function* (batch: SwapBatch) {
        const { authorization, chainId } = batch
        const { accountId, permissionId } = authorization.chains.find((one) => one.chainId === chainId)!
        if (world.revoked.has(`${accountId} ${permissionId}`)) {
          const reason = "the owner removed the agent's permission"
          return yield* new AuthorizationRequired({ chainId, permissionId, cause: "permission_revoked", reason })
        }
        yield* requireUnmoved(world, batch, accountId)
        const attested = yield* attestedAt(world, batch)
        return yield* prepareOn(world, chainId, (chain) => operationOf(batch, attested, chain))
      })
    )
  )

export const simulatedOperations = (world: World) =>
  Layer.succeed(
    UserOperations,
    UserOperations.of({
      bundle: (operations) =>
        onChain(world, operations[0].chainId, (chain) => {
          const bundle = bundleOn(chain, operations)
          world.trace.note("chain: asked about several", `${bundle.kept.length} of ${operations.length} operations`)
          return bundle
        })
    })
  )

export const simulatedActionReceipts = (world: World) =>
  Layer.succeed(
    ActionReceipts,
    ActionReceipts.of({
      find: (transaction, accountId) =>
        onChain(world, transaction.chainId, (chain) => {
          const confirmed = shownHead(world, chain) - chain.confirmations + 1
          const found = findOperation(chain, transaction, { account: accountId, confirmed })
          return world.sabotage === "receipts lie" ? Option.map(found, oneUnitMore) : found
        })
    })
  )
