/**
 * Transactions that the chain has included and the database does not know, as after a failover to a copy that lacks the
 * last commits. A transaction on Solana has no nonce: another one beside it would land too. So after a loss nothing is
 * signed before every earlier transaction has landed or can no longer land, and those that landed were read.
 *
 * All that was signed before the loss has an earlier blockhash. So one height, read once after the loss, bounds the
 * transactions of all operations; whoever asks after the chain has finalized a higher block does not wait.
 */
import type { PublicKey } from "@solana/web3.js"
import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { LostCommits } from "#domain/operation/LostCommits.ts"
import { type TaggedTransaction, readTagged } from "#layers/solana/execution/readTagged.ts"
import type { TransactionTag } from "#layers/solana/execution/transactionTag.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

/** What was signed before a loss may still land. Nothing is signed until it has, or no longer can. */
export class LossUnsettled extends Schema.TaggedError<LossUnsettled>()("LossUnsettled", {
  lastHeight: Schema.BigInt
}) {
  override get message() {
    return (
      "The database may lack records of what was signed before its server was started or replaced; on Solana nothing " +
      `is signed for earlier operations until block ${this.lastHeight} is final, some 90 seconds later`
    )
  }
}

/** Nodes behind one address differ by fewer blocks. */
const nodeLag = 32n

/** The last height at which anything may land that was signed before now. */
const lastHeightOfNow = Effect.gen(function* () {
  const { each } = yield* SolanaRpc
  const results = yield* Effect.forEach(each, ({ latestBlockhash }) => Effect.result(latestBlockhash), {
    concurrency: "unbounded"
  })
  const heights = results.filter(Result.isSuccess).map(({ success }) => success.lastValidBlockHeight)
  if (heights.length > 0) return heights.reduce((last, height) => (height > last ? height : last)) + nodeLag
  return yield* (
    results.find(Result.isFailure)?.failure ??
      new ChainUnavailable({ chainId: solanaChainId, reason: "no RPC endpoint is configured for Solana" })
  )
})

export class UnrecordedTransactions extends Context.Service<
  UnrecordedTransactions,
  {
    /**
     * Those that took effect on the account, oldest first, in finalized blocks; some of them may be recorded. Nothing
     * is asked of the chain, and there are none, while the database cannot have lost commits since the tag's time.
     */
    readonly find: (
      tag: TransactionTag,
      account: PublicKey
    ) => Effect.Effect<ReadonlyArray<TaggedTransaction>, ChainUnavailable | LossUnsettled>
  }
>()("ballast/layers/solana/UnrecordedTransactions") {
  static readonly layer = Layer.effect(
    UnrecordedTransactions,
    Effect.gen(function* () {
      const losses = yield* LostCommits
      const context = yield* Effect.context<SolanaAgent | SolanaRpc>()
      let bounded: { readonly lostAt: number; readonly lastHeight: bigint } | undefined

      const boundOf = Effect.fnUntraced(function* (loss: DateTime.Utc) {
        const lostAt = DateTime.toEpochMillis(loss)
        if (bounded?.lostAt === lostAt) return bounded.lastHeight
        const lastHeight = yield* lastHeightOfNow
        bounded = { lostAt, lastHeight }
        return lastHeight
      })

      const find = Effect.fn("solana.findUnrecorded")(function* (
        { address, since }: TransactionTag,
        account: PublicKey
      ) {
        const loss = yield* losses.after(since)
        if (Option.isNone(loss)) return []
        const { agent } = yield* (yield* SolanaAgent).signing
        const lastHeight = yield* boundOf(loss.value)
        const found = yield* readTagged({ tag: address, since, account, agent: agent.key, lastHeight })
        return yield* Option.match(found, {
          onNone: () => Effect.fail(new LossUnsettled({ lastHeight })),
          onSome: Effect.succeed<ReadonlyArray<TaggedTransaction>>
        })
      }, Effect.provideContext(context))

      return UnrecordedTransactions.of({ find })
    })
  )
}
