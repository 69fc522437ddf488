/** One transaction that the owner's Solana key signs and pays, until it is final. */
import {
  ComputeBudgetProgram,
  type Keypair,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction
} from "@solana/web3.js"
import { Duration, Effect } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { attemptOf } from "#layers/solana/lifecycle/Attempt.ts"
import { type OutcomeUnknown, SimulationFailed } from "#layers/solana/lifecycle/errors.ts"
import { awaitOutcome } from "#layers/solana/lifecycle/executeAttempts.ts"
import {
  type FeePolicy,
  unitLimitFor,
  unitPriceFor,
  unitsOfATransaction
} from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

const timing = {
  commitment: "finalized",
  resendEvery: Duration.seconds(2),
  waitAtMost: Duration.minutes(3)
} as const

/** What would fail is not signed. */
export const sendAsOwner = Effect.fn("solana.sendAsOwner")(function* (
  { fees, key }: { readonly key: Keypair; readonly fees: FeePolicy },
  instructions: ReadonlyArray<TransactionInstruction>
): Effect.fn.Return<void, ChainUnavailable | SimulationFailed | OutcomeUnknown, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const { blockhash, lastValidBlockHeight } = yield* rpc.latestBlockhash
  const compiled = (units: number, microLamports: bigint) =>
    new TransactionMessage({
      payerKey: key.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
        ...instructions
      ]
    }).compileToV0Message()
  const draft = compiled(unitsOfATransaction, 0n)
  const drafted = yield* Effect.try({
    try: () => new VersionedTransaction(draft).serialize(),
    catch: () => new SimulationFailed({ error: "TransactionTooLarge", logs: [] })
  })
  const written = draft.staticAccountKeys.filter((_, index) => draft.isAccountWritable(index))
  const [simulated, prices] = yield* Effect.all([rpc.simulate(drafted), rpc.recentFees(written)])
  if (simulated.error !== null) return yield* new SimulationFailed({ error: simulated.error, logs: simulated.logs })
  const units = unitLimitFor(simulated.units)
  const transaction = new VersionedTransaction(compiled(units, unitPriceFor(prices, units, fees)))
  transaction.sign([key])
  const attempt = attemptOf(transaction.message.serialize(), transaction.signatures, lastValidBlockHeight)
  const outcome = yield* awaitOutcome(attempt, timing)
  if (outcome._tag === "Landed") return undefined
  return yield* new SimulationFailed({ error: outcome._tag === "Failed" ? outcome.error : outcome._tag, logs: [] })
})
