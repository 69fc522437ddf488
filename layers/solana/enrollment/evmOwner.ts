/**
 * Enrollment of an EVM owner on Solana: the owner's wallet signs a text (`personal_sign`) that names a slot and counts
 * the owner's signatures; the chain takes it for 60 slots and once. One transaction, signed by the agent alone, makes
 * the wallet where it is new, the agent's role and the sub-account.
 */
import { secp256k1 } from "@noble/curves/secp256k1"
import type { PublicKey } from "@solana/web3.js"
import { Effect, Result } from "effect"
import { hashMessage, hexToBytes, isHex } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { TenantId } from "#domain/values/Ids.ts"
import { agentRoleText } from "#layers/solana/enrollment/agentRoleText.ts"
import {
  EnrollmentExpired,
  type EnrollmentOvertaken,
  OwnerSignatureRefused,
  type WalletsExhausted
} from "#layers/solana/enrollment/errors.ts"
import { addressOfKey, findWallet } from "#layers/solana/enrollment/findWallet.ts"
import { subAccountOf, requireUnchanged, stepsOf, type WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import type { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import type { Attempt } from "#layers/solana/lifecycle/Attempt.ts"
import { prepare, type PreparationError, signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { signatureSlots } from "#layers/solana/swig/signedText.ts"

/** Stage 1: where the portfolio goes, and an example of the text, at the slot of now. Nothing is signed or sent. */
export const issueForEvmOwner = Effect.fn("solana.issueForEvmOwner")(function* ({
  agent,
  owner,
  tenantId
}: {
  readonly tenantId: TenantId
  readonly owner: EvmAddress
  readonly agent: PublicKey
}): Effect.fn.Return<
  { readonly flow: WalletSubAccount; readonly slot: bigint; readonly raw: string },
  ChainUnavailable | WalletsExhausted,
  SolanaRpc
> {
  const rpc = yield* SolanaRpc
  const flow = subAccountOf(yield* findWallet(tenantId, { _tag: "Evm", address: owner }))
  const { slot } = yield* rpc.position("confirmed")
  const { wallet } = addressesOf(flow)
  return { flow, slot, raw: `0x${agentRoleText({ agent, wallet, slot, odometer: flow.odometer })}` }
})

/** What the owner sends at stage 2, as the interface names it. */
export interface EvmOwnerSignature {
  /** Hexadecimal: whole (65 bytes), without its first byte (64) or compressed (33). */
  readonly userSecp256k1PublicKey: string
  /** Hexadecimal, 65 bytes. */
  readonly signature: string
  readonly currentSlot: bigint
}

type Field = OwnerSignatureRefused["field"]
const refused = (field: Field, message: string) => Result.fail(new OwnerSignatureRefused({ field, message }))

const bytesOf = (text: string, lengths: ReadonlyArray<number>): Uint8Array | undefined => {
  if (text.length > 132 || !isHex(text) || text.length % 2 !== 0) return undefined
  const bytes = hexToBytes(text)
  return lengths.includes(bytes.length) ? bytes : undefined
}

/** The owner's key and the signature as the program takes them, when the owner signed the text. */
const readSignature = (
  { signature, userSecp256k1PublicKey }: EvmOwnerSignature,
  owner: EvmAddress,
  text: string
): Result.Result<{ readonly publicKey: Uint8Array; readonly signature: Uint8Array }, OwnerSignatureRefused> => {
  const key = bytesOf(userSecp256k1PublicKey, [33, 64, 65])
  if (key === undefined || addressOfKey(key) === undefined) {
    return refused("userSecp256k1PublicKey", "Expected a secp256k1 public key of 33, 64 or 65 bytes in hexadecimal")
  }
  if (addressOfKey(key) !== owner) {
    return refused("userSecp256k1PublicKey", `The key is not that of the owner ${owner}`)
  }
  const bytes = bytesOf(signature, [65])
  const last = bytes?.[64] ?? -1
  const recovery = last < 27 ? last : last - 27
  if (bytes === undefined || (recovery !== 0 && recovery !== 1)) {
    return refused("signature", "Expected a personal_sign signature of 65 bytes in hexadecimal that ends with 27 or 28")
  }
  const recovered = Result.try(() => {
    const parsed = secp256k1.Signature.fromCompact(bytes.slice(0, 64)).addRecoveryBit(recovery)
    return parsed.hasHighS() ? undefined : parsed.recoverPublicKey(hashMessage(text).slice(2))
  })
  const point = Result.isSuccess(recovered) ? recovered.success : undefined
  if (point === undefined || addressOfKey(point.toRawBytes(false)) !== owner) {
    return refused(
      "signature",
      `The signature is not the owner's over the text ${text}; check wallet, agent, slot and odometer in it`
    )
  }
  return Result.succeed({
    publicKey: point.toRawBytes(false).slice(1),
    signature: Uint8Array.from([...bytes.slice(0, 64), 27 + recovery])
  })
}

/** Stage 2: the transaction, signed by the agent, to be recorded and sent (lifecycle/executeAttempts.ts). */
export const acceptFromEvmOwner = Effect.fn("solana.acceptFromEvmOwner")(function* ({
  agent,
  fees,
  flow,
  owner,
  word
}: {
  readonly flow: WalletSubAccount
  readonly owner: EvmAddress
  readonly agent: Agent
  readonly word: EvmOwnerSignature
  readonly fees: FeePolicy
}): Effect.fn.Return<
  Attempt,
  PreparationError | EnrollmentExpired | EnrollmentOvertaken | OwnerSignatureRefused | BytesRefused,
  SolanaRpc
> {
  const rpc = yield* SolanaRpc
  const { wallet } = addressesOf(flow)
  const { currentSlot: slot } = word
  if (slot < 0n || slot > 2n ** 63n - 1n) {
    return yield* new OwnerSignatureRefused({ field: "currentSlot", message: "Expected a slot of the chain" })
  }
  const text = agentRoleText({ agent: agent.key, wallet, slot, odometer: flow.odometer })
  const { publicKey, signature } = yield* Effect.fromResult(readSignature(word, owner, text))
  const now = (yield* rpc.position("processed")).slot
  if (slot > now) {
    return yield* new OwnerSignatureRefused({
      field: "currentSlot",
      message: `The chain is at slot ${now} and not at ${slot} yet; take the slot from the chain at commitment confirmed`
    })
  }
  if (now - slot > signatureSlots) {
    return yield* new EnrollmentExpired({
      message: `The signature names slot ${slot}, and the chain takes it up to slot ${slot + signatureSlots}; it is at ${now}. Sign again with a fresh slot`
    })
  }
  yield* requireUnchanged(flow, { _tag: "Evm", address: owner })
  const consent = {
    _tag: "PersonalSignature",
    publicKey,
    slot,
    odometer: flow.odometer,
    signature
  } as const
  return yield* signedByAgent(agent, yield* prepare({ agent: agent.key, steps: stepsOf(flow, consent), fees }))
})
