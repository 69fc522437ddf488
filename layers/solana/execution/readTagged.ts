/**
 * Transactions with a tag, as all endpoints show them once none that was signed before can land any more. An endpoint
 * that is silent or behind has no say; where there are several, two must show the same.
 */
import { NATIVE_MINT } from "@solana/spl-token"
import { type PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Clock, DateTime, Effect, Metric, Option, Result } from "effect"
import { solanaChainId, spl } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Metrics from "#domain/effects/Metrics.ts"
import type { Balances, IncludedTransaction, ListedSignature, Requests } from "#layers/solana/rpc/Requests.ts"
import { signaturesOfAPage, SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import type { Amounts } from "#layers/solana/trading/prepareSwap.ts"

/** A transaction that took effect and that no fork can take back. */
export interface TaggedTransaction {
  readonly signature: string
  readonly slot: bigint
  /** The wire bytes with all signatures. */
  readonly bytes: Uint8Array
  /** What the account held of the tokens that the transaction is about. */
  readonly before: Amounts
  readonly after: Amounts
}

/** What one endpoint shows. */
export interface Listing {
  /** Its latest finalized block, read before the transactions. */
  readonly height: bigint
  /** Those that took effect, oldest first. */
  readonly landed: ReadonlyArray<string>
}

/**
 * What endpoints show together of transactions that could land up to a height. `endpoints`: how many there are, those
 * that are silent included.
 */
export const concludeListings = (
  listings: ReadonlyArray<Listing>,
  { endpoints, lastHeight }: { readonly endpoints: number; readonly lastHeight: bigint }
): ReadonlyArray<string> | "pending" | "contradiction" => {
  const [first, ...others] = listings.filter(({ height }) => height > lastHeight)
  if (first === undefined || others.length + 1 < Math.min(2, endpoints)) return "pending"
  const isSame = others.every(({ landed }) => JSON.stringify(landed) === JSON.stringify(first.landed))
  return isSame ? first.landed : "contradiction"
}

/** An operation has far fewer: five for each step of each attempt. */
const pageLimit = 5

const unavailable = (reason: string) => new ChainUnavailable({ chainId: solanaChainId, reason })

const listAll = Effect.fnUntraced(function* (endpoint: Requests, tag: PublicKey, slot: bigint) {
  const listed: Array<ListedSignature> = []
  for (let page = 1; page <= pageLimit; page++) {
    const found = yield* endpoint.signatures(tag, slot, listed.at(-1)?.signature)
    listed.push(...found)
    if (found.length < signaturesOfAPage) return listed
  }
  return yield* unavailable(`more than ${pageLimit * signaturesOfAPage} transactions name ${tag.toBase58()}`)
})

/** Slots take 400 milliseconds or more; a margin for clocks. */
const slotMillis = 300

/** What an endpoint lists whose history goes back to the tag's time; others have no say. */
const listingOf = Effect.fnUntraced(function* (endpoint: Requests, { tag, since }: Pick<Sought, "tag" | "since">) {
  const { height, slot } = yield* endpoint.position("finalized")
  const slots = BigInt(Math.ceil(((yield* Clock.currentTimeMillis) - DateTime.toEpochMillis(since)) / slotMillis))
  const firstSlot = yield* endpoint.firstSlot
  if (firstSlot > 0n && firstSlot > slot - slots) {
    return yield* unavailable(`its node knows no transactions before slot ${firstSlot}, and those of then are sought`)
  }
  const listed = yield* listAll(endpoint, tag, slot)
  const landed = listed.filter(({ error }) => error === null).map(({ signature }) => signature)
  return { height, landed: landed.toReversed() } satisfies Listing
})

/** Each asset of which the transaction names an account of the owner's; lamports count as SOL. */
const amountsOf = ({ lamports, tokens }: Balances, account: PublicKey, place: number): Amounts => {
  const amounts = new Map([[spl(NATIVE_MINT.toBase58()), lamports[place] ?? 0n]])
  for (const { mint, owner, raw } of tokens) {
    if (owner !== account.toBase58()) continue
    amounts.set(spl(mint), (amounts.get(spl(mint)) ?? 0n) + raw)
  }
  return [...amounts].map(([assetId, raw]) => ({ assetId, raw }))
}

const taggedIn = (
  { after, before, bytes, loaded, slot }: IncludedTransaction,
  { account, agent, signature }: { readonly signature: string; readonly account: PublicKey; readonly agent: PublicKey }
): Option.Option<TaggedTransaction> => {
  const { staticAccountKeys } = VersionedTransaction.deserialize(bytes).message
  // Anybody may name the address: what the agent did not pay for is not the service's.
  if (staticAccountKeys[0]?.equals(agent) !== true) return Option.none()
  const place = [...staticAccountKeys.map((key) => key.toBase58()), ...loaded].indexOf(account.toBase58())
  if (place < 0) return Option.none()
  return Option.some({
    signature,
    slot,
    bytes,
    before: amountsOf(before, account, place),
    after: amountsOf(after, account, place)
  })
}

interface Sought {
  readonly tag: PublicKey
  /** Nothing that is older has the tag. */
  readonly since: DateTime.Utc
  /** Whose tokens the transactions move. */
  readonly account: PublicKey
  /** Who signs and pays. */
  readonly agent: PublicKey
  /** The last height of a block that may include one. */
  readonly lastHeight: bigint
}

/**
 * Oldest first; none while one may still land. Fails when no endpoint answers, when they contradict each other, and
 * when one of the transactions cannot be read.
 */
export const readTagged = Effect.fn("solana.readTagged")(function* ({
  account,
  agent,
  lastHeight,
  since,
  tag
}: Sought): Effect.fn.Return<Option.Option<ReadonlyArray<TaggedTransaction>>, ChainUnavailable, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const results = yield* Effect.forEach(rpc.each, (endpoint) => Effect.result(listingOf(endpoint, { tag, since })), {
    concurrency: "unbounded"
  })
  const listings = results.filter(Result.isSuccess).map(({ success }) => success)
  if (listings.length === 0) {
    const failure = results.find(Result.isFailure)?.failure
    return yield* failure ?? unavailable("no RPC endpoint is configured for Solana")
  }
  const landed = concludeListings(listings, { endpoints: rpc.each.length, lastHeight })
  if (landed === "pending") return Option.none()
  if (landed === "contradiction") {
    yield* Metric.update(Metric.withAttributes(Metrics.chainDisagreements, { chain: String(solanaChainId) }), 1)
    return yield* unavailable(
      "its endpoints list other transactions of an operation; nothing is signed until they agree"
    )
  }
  const found = yield* Effect.forEach(landed, (signature) =>
    Effect.flatMap(
      rpc.transaction(signature),
      Option.match({
        onNone: () => Effect.fail(unavailable(`the transaction ${signature} is listed and cannot be read`)),
        onSome: (included) => Effect.succeed(taggedIn(included, { signature, account, agent }))
      })
    )
  )
  return Option.some(found.filter(Option.isSome).map(({ value }) => value))
})
