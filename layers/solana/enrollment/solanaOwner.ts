/**
 * Enrollment of an owner with a Solana key: one transaction that both sign, the owner first. The agent does not sign at
 * stage 1: what it had signed could be sent without the service. At stage 2 the transaction must be the issued one in
 * every byte of its message, signed by the owner.
 */
import { MessageV0, type PublicKey } from "@solana/web3.js"
import { Effect, Result, Schema } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import {
  EnrollmentExpired,
  type EnrollmentOvertaken,
  OwnerSignatureRefused,
  type WalletsExhausted
} from "#layers/solana/enrollment/errors.ts"
import { findWallet } from "#layers/solana/enrollment/findWallet.ts"
import { placeOf, requireUnchanged, stepsOf, WalletPlace } from "#layers/solana/enrollment/Flow.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import type { TransactionPlan } from "#layers/solana/swig/Plan.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import { type Attempt, attemptOf, signersOf } from "#layers/solana/lifecycle/Attempt.ts"
import { SimulationFailed } from "#layers/solana/lifecycle/errors.ts"
import { prepare, type PreparationError } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

/** What stage 1 stores. The plan is made from it again at stage 2. */
export const SolanaFlow = Schema.Struct({
  ...WalletPlace.fields,
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

const longestTransaction = 1_644

const textOf = ({ brand, agent }: { readonly brand: string; readonly agent: PublicKey }, flow: WalletPlace): string => {
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
  const place = placeOf(yield* findWallet(tenantId, { _tag: "Solana", key: owner }))
  const steps = stepsOf(place, { _tag: "SignsTransaction", key: owner })
  const { lastValidBlockHeight, message, plan } = yield* prepare({ agent, steps, fees })
  const [limit, price] = plan.steps
  const flow: SolanaFlow = {
    ...place,
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
    text: textOf({ brand, agent }, place)
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

const refused = (message: string) => new OwnerSignatureRefused({ field: "signedSolanaTransaction", message })

/** The owner's signature in a returned transaction, which must be the issued one. */
const ownerSignature = (
  flow: SolanaFlow,
  owner: PublicKey,
  returned: string
): Result.Result<Uint8Array, OwnerSignatureRefused> => {
  const isBase64 = returned.length <= longestTransaction && /^[A-Za-z0-9+/]+={0,2}$/u.test(returned)
  if (!isBase64) return Result.fail(refused("Expected the signed transaction in base64, of at most 1,232 bytes"))
  const bytes = Uint8Array.from(Buffer.from(returned, "base64"))
  const count = bytes[0]!
  const message = bytes.slice(1 + 64 * count)
  if (!Buffer.from(message).equals(flow.message)) {
    return Result.fail(refused("The transaction is not the issued one; sign it as it was issued, or request a new one"))
  }
  const signers = signersOf(MessageV0.deserialize(flow.message))
  const place = signers.findIndex((key) => key.equals(owner))
  if (count !== signers.length || place === -1) {
    return Result.fail(refused(`Expected ${signers.length} signatures, found ${count}`))
  }
  const signature = bytes.slice(1 + 64 * place, 1 + 64 * (place + 1))
  return Ed25519.verify(owner.toBytes(), flow.message, signature)
    ? Result.succeed(signature)
    : Result.fail(
        refused("The owner's signature is missing or not valid; sign the issued transaction with the owner's key")
      )
}

/**
 * Stage 2: the issued transaction with the owner's and the agent's signatures, to be recorded and sent
 * (layers/solana/lifecycle/executeAttempts.ts). The agent signs last, after every check.
 */
export const acceptFromSolanaOwner = Effect.fn("solana.acceptFromSolanaOwner")(function* ({
  agent,
  flow,
  owner,
  signedTransaction
}: {
  readonly flow: SolanaFlow
  readonly owner: PublicKey
  readonly agent: Agent
  /** Base64. */
  readonly signedTransaction: string
}): Effect.fn.Return<
  Attempt,
  ChainUnavailable | EnrollmentExpired | EnrollmentOvertaken | OwnerSignatureRefused | SimulationFailed | BytesRefused,
  SolanaRpc
> {
  const rpc = yield* SolanaRpc
  const signature = yield* Effect.fromResult(ownerSignature(flow, owner, signedTransaction))
  const { height } = yield* rpc.position("confirmed")
  if (height > flow.lastValidBlockHeight) {
    return yield* new EnrollmentExpired({
      message: "The transaction's blockhash has expired; request a new enrollment and sign promptly"
    })
  }
  yield* requireUnchanged(flow, { _tag: "Solana", key: owner })
  const plan = planOf(flow, owner, agent.key)
  const signers = signersOf(MessageV0.deserialize(flow.message))
  const { error, logs } = yield* rpc.simulate(withSignatures(flow.message, signers.length))
  if (error !== null) return yield* new SimulationFailed({ error, logs: logs.slice(-20) })
  const own = yield* agent.sign(flow.message, plan)
  const signatures = signers.map((key) => (key.equals(agent.key) ? own : signature))
  return attemptOf(flow.message, signatures, flow.lastValidBlockHeight)
})
