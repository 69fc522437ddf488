/**
 * Turns the steps of a plan into a message with its blockhash, compute limit and price; and, where the agent alone
 * signs, to an attempt. The simulation comes before the signature: what would fail is not signed.
 */
import { type AddressLookupTableAccount, type MessageV0, type PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Effect, Result } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import type { Step, TransactionPlan } from "#layers/solana/swig/Plan.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { type Attempt, attemptOf } from "#layers/solana/lifecycle/Attempt.ts"
import {
  SimulationFailed,
  transactionAccountsLimit,
  transactionBytesLimit,
  TransactionDoesNotFit
} from "#layers/solana/lifecycle/errors.ts"
import {
  type FeePolicy,
  priorityLamports,
  signatureLamports,
  unitLimitFor,
  unitPriceFor,
  unitsOfATransaction
} from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { buildMessage } from "#layers/solana/swig/buildTransaction.ts"

export interface Prepared {
  readonly plan: TransactionPlan
  /** The message's bytes, not signed. */
  readonly message: Uint8Array
  readonly lastValidBlockHeight: bigint
  /** Lamports that the chain takes for it, by the limit and the price of its units. */
  readonly feeLamports: bigint
}

export interface Preparation {
  readonly agent: PublicKey
  /** Steps without limits and prices of units, which come first in the plan. */
  readonly steps: ReadonlyArray<Step>
  readonly lookupTables?: ReadonlyArray<AddressLookupTableAccount>
  /** Tag by which the transaction is found on the chain. */
  readonly tag?: PublicKey | undefined
  readonly fees: FeePolicy
}

type LimitUnits = Extract<Step, { readonly _tag: "LimitUnits" }>

export type PreparationError = ChainUnavailable | SimulationFailed | TransactionDoesNotFit

const accountsOf = (message: MessageV0): number =>
  message.staticAccountKeys.length +
  message.addressTableLookups.reduce(
    (sum, { readonlyIndexes, writableIndexes }) => sum + readonlyIndexes.length + writableIndexes.length,
    0
  )

/** The plan's message with empty signatures, if it fits. */
export const compile = Effect.fnUntraced(function* (plan: TransactionPlan) {
  const message = yield* Effect.promise(() => buildMessage(plan))
  const accounts = accountsOf(message)
  // The package throws where the bytes do not fit into its buffer.
  const written = Result.try(() => new VersionedTransaction(message).serialize())
  const bytes = Result.isSuccess(written) ? written.success.length : null
  if (
    Result.isFailure(written) ||
    bytes === null ||
    bytes > transactionBytesLimit ||
    accounts > transactionAccountsLimit
  )
    return yield* new TransactionDoesNotFit({ bytes, accounts })
  return { message, transaction: written.success }
})

/** What it writes to, what lookup tables name too: others bid for the same accounts. */
const writableOf = (message: MessageV0, tables: ReadonlyArray<AddressLookupTableAccount>): ReadonlyArray<PublicKey> =>
  message
    .getAccountKeys({ addressLookupTableAccounts: [...tables] })
    .keySegments()
    .flat()
    .filter((_, index) => message.isAccountWritable(index))

/** The plan with what it may use and pay first. */
export const within = (
  plan: TransactionPlan,
  limit: Omit<LimitUnits, "_tag">,
  microLamports: bigint
): TransactionPlan => ({
  ...plan,
  steps: [{ _tag: "LimitUnits", ...limit }, { _tag: "PriceUnits", microLamports }, ...plan.steps]
})

/** The plan with what it may use and pays, and its message. Nothing is signed. */
export const prepare = Effect.fn("solana.prepare")(function* ({
  agent,
  fees,
  lookupTables = [],
  tag,
  steps
}: Preparation): Effect.fn.Return<Prepared, PreparationError, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const { blockhash, lastValidBlockHeight } = yield* rpc.latestBlockhash
  const plan = { agent, blockhash, steps, lookupTables }
  const draft = yield* compile(within(plan, { units: unitsOfATransaction, tag }, 0n))
  const [simulated, prices] = yield* Effect.all(
    [rpc.simulate(draft.transaction), rpc.recentFees(writableOf(draft.message, lookupTables))],
    { concurrency: "unbounded" }
  )
  if (simulated.error !== null) {
    return yield* new SimulationFailed({ error: simulated.error, logs: simulated.logs.slice(-20) })
  }
  const units = unitLimitFor(simulated.units)
  const price = unitPriceFor(prices, units, fees)
  const priced = within(plan, { units, tag }, price)
  const { message } = yield* compile(priced)
  const feeLamports =
    BigInt(message.header.numRequiredSignatures) * signatureLamports + priorityLamports(BigInt(units), price)
  return { plan: priced, message: message.serialize(), lastValidBlockHeight, feeLamports }
})

/** Signs what the agent alone has to sign. */
export const signedByAgent = Effect.fn("solana.signedByAgent")(function* (
  agent: Agent,
  { lastValidBlockHeight, message, plan }: Prepared
): Effect.fn.Return<Attempt, BytesRefused> {
  return attemptOf(message, [yield* agent.sign(message, plan)], lastValidBlockHeight)
})
