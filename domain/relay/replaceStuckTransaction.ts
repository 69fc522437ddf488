/**
 * What is done about a transaction that does not land: the one that the chain waits for, which is the relayer's first
 * unused nonce, is sent again; and where its fees would not be taken any more, replaced by the same with higher ones.
 * What may not cost that much waits, and is taken back when the market stays there (`holdTransaction`).
 *
 * It may be another attempt's transaction, whose run is gone because another sender included its action; an attempt
 * that waits behind it replaces it. A transaction behind it is left alone: a higher fee would not bring it forward.
 */
import { DateTime, Duration, Effect, Option, Result } from "effect"
import { countReplacement, holdTransaction, type ReplacementServices } from "#domain/relay/fees/holdTransaction.ts"
import type { StoredTransaction } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/effects/spanAttributes.ts"

/**
 * Sends a replacement where the fees are too low. That the relayer's account is empty, or that no node answers, is no
 * reason to offer more: it fails then.
 */
const raise = Effect.fnUntraced(function* (services: ReplacementServices, head: StoredTransaction) {
  const { relayer, store } = services
  const { feeCeiling, isHeld, transaction } = head
  const sent = yield* Effect.result(relayer.broadcast(transaction))
  const isRefused = Result.isFailure(sent) && sent.failure._tag === "FeesTooLow"
  if (Result.isFailure(sent) && !isRefused) return yield* sent.failure
  const bump = yield* relayer.quoteFeeBump(transaction, { isRefused, feeCeiling })
  if (bump._tag === "AboveLimit" && feeCeiling !== null && transaction.cancels === undefined)
    return yield* holdTransaction(services, head, feeCeiling)
  if (isHeld) yield* store.release(transaction)
  if (bump._tag === "Sufficient") return
  if (bump._tag !== "Bump") {
    const { chainId, nonce, relayer: account } = transaction
    yield* countReplacement(chainId, "ceiling")
    return yield* Effect.logWarning(
      bump._tag === "AboveLimit"
        ? `Nonce ${nonce} of relayer ${account} on chain ${chainId} waits for cheaper gas: taking it back may cost no more than what is taken back`
        : `Nonce ${nonce} of relayer ${account} on chain ${chainId} waits: a replacement would cost more than the gas ceiling. Raise GAS_CEILING_GWEI_${chainId} or wait for cheaper gas`
    )
  }
  const newest = yield* store.replace(head, yield* DateTime.now, relayer.signReplacement(transaction, bump.fees))
  yield* countReplacement(transaction.chainId, "replaced")
  yield* relayer.broadcast(newest)
})

/** `age` is how old the newest bytes must be to be replaced; younger ones are sent again as they are. */
export const replaceStuckTransaction = Effect.fn("replaceStuckTransaction")(function* (
  services: ReplacementServices,
  { chainId, nonce, relayer: account }: SignedTransaction,
  age: Duration.Duration
) {
  const { relayer, store } = services
  yield* spanIsAbout({ chainId })
  const next = yield* relayer.usedNonces(chainId, account)
  if (next > nonce) return
  const found = yield* store.atNonce(chainId, account, next)
  if (Option.isNone(found)) {
    return yield* Effect.logError(
      `The chain ${chainId} waits for nonce ${next} of relayer ${account}, with which nothing was signed here. Was its key used elsewhere, or the database restored from an older backup? Send any transaction with that nonce`
    )
  }
  const head = found.value
  const isOld = Duration.isGreaterThanOrEqualTo(DateTime.distance(head.signedAt, yield* DateTime.now), age)
  yield* spanIsAbout(head.transaction)
  yield* isOld ? raise(services, head) : relayer.broadcast(head.transaction)
})
