/** Searches the user operations of an account for tags. Source: ERC-4337 (UserOperationEvent). */
import { DateTime, Effect, Layer, Option, Result } from "effect"
import type { Hex } from "viem"
import { namespaceOfChain } from "#domain/values/Caip.ts"
import { type TaggedOperation, OperationTags, type SoughtOperation } from "#domain/relay/OperationTags.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt, ToSign } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { blockBefore } from "#layers/evm/rpc/blockBefore.ts"
import { maxBlocks, type OperationEvent, operationEvents, rangeFrom } from "#layers/evm/execution/operationEvents.ts"
import { operationNonceOf, readNextNonces } from "#layers/evm/account/operationNonce.ts"
import { outcomeIn } from "#layers/evm/execution/operationOutcome.ts"
import { hasTag, tagOf } from "#layers/evm/execution/operationTag.ts"
import { readDepth, confirmedReceipt } from "#layers/evm/execution/confirmedReceipt.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { agreed, type Observation } from "#layers/evm/rpc/quorum.ts"

/** The first block that is searched: one older than the acceptance, or as far back as is searched. */
const beginningOf = ({ chainId, since }: SoughtOperation, head: bigint) =>
  blockBefore(chainId, { millis: DateTime.toEpochMillis(since), maxBlocks }, head)

/** Nodes show logs this many blocks later at most. Of what is younger the account's nonce says whether there is any. */
export const lateBlocks = 32n
/** Kernel's key of an operation that enables the permission on the way differs from the other in its first byte. */
const enablesFirst = 1n << 248n
const noneToSign: ToSign = { from: 0n, callData: undefined }
const sequenceOf = (nonce: bigint): bigint => nonce & ((1n << 64n) - 1n)

/** Nonces of the account's operations after a block and before the one that is to be signed; none where none is. */
const countedSince = Effect.fnUntraced(function* (
  { accountId, chainId, toSign: { callData } = noneToSign }: SoughtOperation,
  blockNumber: bigint
) {
  const next = callData === undefined ? undefined : operationNonceOf(callData, accountId)
  if (next === undefined) return undefined
  // The first one under the permission's own key: the one before it enabled the permission, under another key.
  const isFirst = sequenceOf(next) === 0n && (next & enablesFirst) === 0n
  const enabling = next | enablesFirst
  const asked = [{ accountId, nonce: next }, ...(isFirst ? [{ accountId, nonce: enabling }] : [])]
  const [first, firstEnabling = enabling] = yield* readNextNonces(chainId, asked, blockNumber)
  const counted = isFirst && firstEnabling === enabling ? [enabling] : []
  for (let nonce = first!; nonce < next; nonce++) counted.push(nonce)
  return counted
})

/**
 * Fails where the account's nonce counts operations of the last blocks that the node does not show: what it shows is
 * not all that there is.
 */
const requireAllShown = Effect.fnUntraced(function* (
  sought: SoughtOperation,
  shown: ReadonlyArray<OperationEvent>,
  head: bigint
) {
  const counted = yield* countedSince(sought, head > lateBlocks ? head - lateBlocks : 0n)
  const nonces = new Set(shown.map(({ args }) => args.nonce))
  const missing = counted?.find((nonce) => !nonces.has(nonce))
  if (missing === undefined) return
  return yield* new ChainUnavailable({
    chainId: sought.chainId,
    reason: `the account's nonce counts an operation (${sequenceOf(missing)}) that the node does not show yet`
  })
})

/** The account's operations since a block; none, without logs, where its nonce has not changed since. */
const shownSince = Effect.fnUntraced(function* (sought: SoughtOperation, from: bigint, head: bigint) {
  const { accountId, chainId } = sought
  const sender = toViem(addressOf(accountId))
  const events = yield* Effect.result(operationEvents(chainId, sender, { range: rangeFrom(from, head) }))
  if (Result.isFailure(events)) {
    const counted = yield* Effect.orElseSucceed(countedSince(sought, from), () => undefined)
    return counted?.length === 0 ? [] : yield* events.failure
  }
  yield* requireAllShown(sought, events.success, head)
  return events.success
})

/** What the account's operations say that succeeded, oldest first. */
const operationsSince = (sought: SoughtOperation, from: bigint, head: bigint) =>
  Effect.map(shownSince(sought, from, head), (events) => events.filter(({ args }) => args.success))

const inputOf = Effect.fnUntraced(function* ({ chainId }: SoughtOperation, hash: Hex) {
  const { request } = yield* EvmClients
  const { input } = yield* request(chainId, "eth_getTransactionByHash", (client) => client.getTransaction({ hash }))
  return input
})

/**
 * What one endpoint shows; `sawPending` is called for an operation with the tag in a block that is not confirmed yet.
 */
const observe = Effect.fnUntraced(function* (sought: SoughtOperation, sawPending: () => void) {
  const { accountId, chainId, fromBlock, operationId } = sought
  const { head, confirmed } = yield* readDepth(chainId)
  if (head < fromBlock)
    return yield* new ChainUnavailable({ chainId, reason: `the endpoint is at block ${head}, before ${fromBlock}` })
  const shows = (receipt: Option.Option<ActionReceipt>): Observation => ({ head, confirmed, receipt })
  for (const { args, transactionHash } of yield* operationsSince(sought, yield* beginningOf(sought, head), head)) {
    if (!hasTag(yield* inputOf(sought, transactionHash), args, tagOf(operationId))) continue
    const receipt = yield* confirmedReceipt(chainId, transactionHash, confirmed)
    if (receipt !== null && receipt !== "pending") return shows(outcomeIn(receipt, args.userOpHash, accountId))
    sawPending()
  }
  return shows(Option.none())
})

export const OperationTagsLive = Layer.effect(
  OperationTags,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const find = Effect.fn("OperationTags.find")(
      function* (sought: SoughtOperation) {
        yield* spanIsAbout(sought)
        if (namespaceOfChain(sought.chainId) !== "eip155") return { _tag: "Absent" } satisfies TaggedOperation
        let isPending = false
        const found = yield* agreed(
          sought.chainId,
          observe(sought, () => (isPending = true))
        )
        if (Option.isSome(found)) return { _tag: "Included", receipt: found.value } satisfies TaggedOperation
        return { _tag: isPending ? "Pending" : "Absent" } satisfies TaggedOperation
      },
      Effect.provideService(EvmClients, clients)
    )

    return OperationTags.of({ find })
  })
)
