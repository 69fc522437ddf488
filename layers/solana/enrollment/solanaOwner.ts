/**
 * Enrollment of an owner with a Solana key: one transaction that both sign, the owner first. The agent does not sign at
 * stage 1: what it had signed could be sent without the service. At stage 2 the transaction must be the issued one, but
 * for what wallets may add (returnedTransaction.ts), signed by the owner.
 */
import { MessageV0, type PublicKey } from "@solana/web3.js"
import { Effect, Schema } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import {
  EnrollmentExpired,
  type EnrollmentOvertaken,
  type OwnerSignatureRefused,
  type WalletsExhausted
} from "#layers/solana/enrollment/errors.ts"
import { findWallet } from "#layers/solana/enrollment/findWallet.ts"
import { subAccountOf, requireUnchanged, stepsOf, WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import type { TransactionPlan } from "#layers/solana/swig/Plan.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { type Attempt, attemptOf, signersOf } from "#layers/solana/lifecycle/Attempt.ts"
import { SimulationFailed } from "#layers/solana/lifecycle/errors.ts"
import { readReturned } from "#layers/solana/enrollment/returnedTransaction.ts"
import { prepare, type PreparationError } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

/** What stage 1 stores. The plan is made from it again at stage 2. */
export const SolanaFlow = Schema.Struct({
  ...WalletSubAccount.fields,
  blockhash: Schema.String,
  lastValidBlockHeight: Schema.BigIntFromString,
  units: Schema.Int,
  microLamports: Schema.BigIntFromString,
  /** The issued message, byte for byte. */
  message: Schema.Uint8ArrayFromBase64
})
export type SolanaFlow = typeof SolanaFlow.Type

export interface IssuedTransaction {
  readonly flow: SolanaFlow
  /** `solanaTransaction`: base64, all signatures empty. */
  readonly transaction: string
  /** `message.text`: what the transaction does, for people. The owner signs the transaction, not the text. */
  readonly text: string
}

const textOf = (
  { brand, agent }: { readonly brand: string; readonly agent: PublicKey },
  flow: WalletSubAccount
): string => {
  const { deposit, wallet } = addressesOf(flow)
  return [
    `${brand} enrollment on Solana`,
    `Wallet: ${wallet.toBase58()}${flow.isReused ? "" : " (new, and yours)"}`,
    `Agent: ${agent.toBase58()}, role ${flow.roleId}`,
    `Deposit address: ${deposit.toBase58()}`,
    "The agent may move all that is at the deposit address, to anybody, and nothing else of the wallet.",
    "To stop it, put a key of yours into its role, or remove the role. Switching the account off does not stop it."
  ].join("\n")
}

/** Stage 1: the transaction that the owner signs. Nothing is signed or sent. */
export const issueForSolanaOwner = Effect.fn("solana.issueForSolanaOwner")(function* ({
  agent,
  brand,
  fees,
  owner,
  tenantId
}: {
  readonly tenantId: TenantId
  readonly owner: PublicKey
  readonly agent: PublicKey
  readonly brand: string
  readonly fees: FeePolicy
}): Effect.fn.Return<IssuedTransaction, PreparationError | WalletsExhausted, SolanaRpc> {
  const subAccount = subAccountOf(yield* findWallet(tenantId, { _tag: "Solana", key: owner }))
  const steps = stepsOf(subAccount, { _tag: "SignsTransaction", key: owner })
  const { lastValidBlockHeight, message, plan } = yield* prepare({ agent, steps, fees })
  const [limit, price] = plan.steps
  const flow: SolanaFlow = {
    ...subAccount,
    blockhash: plan.blockhash,
    lastValidBlockHeight,
    units: limit?._tag === "LimitUnits" ? limit.units : 0,
    microLamports: price?._tag === "PriceUnits" ? price.microLamports : 0n,
    message
  }
  const signers = signersOf(MessageV0.deserialize(message)).length
  return {
    flow,
    transaction: Buffer.from(withSignatures(message, signers)).toString("base64"),
    text: textOf({ brand, agent }, subAccount)
  }
})

/** A message behind so many empty signatures. */
const withSignatures = (message: Uint8Array, count: number): Uint8Array =>
  Uint8Array.from([count, ...new Uint8Array(64 * count), ...message])

const planOf = (flow: SolanaFlow, owner: PublicKey, agent: PublicKey): TransactionPlan => ({
  agent,
  blockhash: flow.blockhash,
  steps: [
    { _tag: "LimitUnits", units: flow.units },
    { _tag: "PriceUnits", microLamports: flow.microLamports },
    ...stepsOf(flow, { _tag: "SignsTransaction", key: owner })
  ],
  lookupTables: []
})

/**
 * Stage 2: the issued transaction with the owner's and the agent's signatures, to be recorded and sent
 * (layers/solana/lifecycle/executeAttempts.ts). The agent signs last, after every check.
 */
export const acceptFromSolanaOwner = Effect.fn("solana.acceptFromSolanaOwner")(function* ({
  agent,
  fees,
  flow,
  owner,
  signedTransaction
}: {
  readonly flow: SolanaFlow
  readonly owner: PublicKey
  readonly agent: Agent
  readonly fees: FeePolicy
  /** Base64. */
  readonly signedTransaction: string
}): Effect.fn.Return<
  Attempt,
  ChainUnavailable | EnrollmentExpired | EnrollmentOvertaken | OwnerSignatureRefused | SimulationFailed | BytesRefused,
  SolanaRpc
> {
  const rpc = yield* SolanaRpc
  const issued = planOf(flow, owner, agent.key)
  const { message, ownerSignature, plan, signers } = yield* Effect.fromResult(
    readReturned(signedTransaction, { issued, owner, fees })
  )
  const { height } = yield* rpc.position("confirmed")
  if (height > flow.lastValidBlockHeight) {
    return yield* new EnrollmentExpired({
      message: "The transaction's blockhash has expired; request a new enrollment and sign promptly"
    })
  }
  yield* requireUnchanged(flow, { _tag: "Solana", key: owner })
  const { error, logs } = yield* rpc.simulate(withSignatures(message, signers.length))
  if (error !== null) return yield* new SimulationFailed({ error, logs: logs.slice(-20) })
  const own = yield* agent.sign(message, plan)
  const signatures = signers.map((key) => (key.equals(agent.key) ? own : ownerSignature))
  return attemptOf(message, signatures, flow.lastValidBlockHeight)
})
