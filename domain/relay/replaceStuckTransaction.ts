/**
 * What is done about a transaction that does not land: the one that the chain waits for, which is the relayer's first
 * unused nonce, is replaced by the same with a higher fee.
 *
 * It may be another attempt's transaction, whose run is gone because another sender carried its action; an attempt that
 * waits behind it replaces it. A transaction behind it is left alone: a higher fee would not bring it forward.
 */
import { DateTime, Duration, Effect, Metric, Option } from "effect"
import * as Metrics from "#domain/Metrics.ts"
import type { Relayer } from "#domain/relay/Relayer.ts"
import type { RelayStore, StoredTransaction } from "#domain/relay/RelayStore.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { spanIsAbout } from "#domain/spanAttributes.ts"

interface Services {
  readonly store: RelayStore["Service"]
  readonly relayer: Relayer["Service"]
}

const count = (transaction: SignedTransaction, outcome: "replaced" | "ceiling") =>
  Metric.update(Metric.withAttributes(Metrics.relayReplacements, { chain: String(transaction.chainId), outcome }), 1)

/** The bytes to send: those of a replacement, or the same again where the gas ceiling allows none. */
const raise = Effect.fnUntraced(function* ({ relayer, store }: Services, head: StoredTransaction) {
  const { transaction } = head
  const fees = yield* relayer.quoteFeeBump(transaction)
  if (Option.isNone(fees)) {
    yield* count(transaction, "ceiling")
    yield* Effect.logWarning(
      `Nonce ${transaction.nonce} of relayer ${transaction.relayer} on chain ${transaction.chainId} waits: a replacement would cost more than the gas ceiling. Raise GAS_CEILING_GWEI_${transaction.chainId} or wait for cheaper gas`
    )
    return transaction
  }
  const newest = yield* store.replace(head, yield* DateTime.now, relayer.signReplacement(transaction, fees.value))
  yield* count(transaction, "replaced")
  return newest
})

/** `age` is how old the newest bytes must be to be replaced; younger ones are sent again as they are. */
export const replaceStuckTransaction = Effect.fn("replaceStuckTransaction")(function* (
  services: Services,
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
  const transaction = isOld ? yield* raise(services, head) : head.transaction
  yield* spanIsAbout(transaction)
  yield* relayer.broadcast(transaction)
})
