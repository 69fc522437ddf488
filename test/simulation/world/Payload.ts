/**
 * What a simulated transaction includes: user operations of accounts' agents, or a withdrawal that its owner signed.
 * Their JSON in hex is what the service stores and sends as bytes.
 */
import { Schema } from "effect"
import { Hex } from "effect/encoding"
import { createHash } from "node:crypto"
import { AssetId, AccountId, EvmAddress } from "#domain/values/Caip.ts"
import { OperationId } from "#domain/values/Ids.ts"
import { Swap } from "#domain/trading/Swap.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"

export const UserOperation = Schema.TaggedStruct("UserOperation", {
  accountId: AccountId,
  /** Its tag; null where a batch has none. */
  operationId: Schema.NullOr(OperationId),
  /** The account's nonce at the EntryPoint: of two operations with the same one, one can be included. */
  nonce: Schema.Int,
  /** Unix seconds after which its swaps revert. */
  deadline: Schema.Int,
  /** Unix seconds of the attested prices that it includes; null without. */
  attestedAt: Schema.NullOr(Schema.Int),
  swaps: Schema.Array(Swap),
  transfers: Schema.Array(OutgoingTransfer),
  /** What a liquidation ends with. */
  settlement: Schema.NullOr(
    Schema.Struct({ message: WithdrawalMessage, assetId: AssetId, keepRaw: Schema.BigIntFromString })
  )
})
export type UserOperation = typeof UserOperation.Type

export const OwnersWithdrawal = Schema.TaggedStruct("OwnersWithdrawal", {
  accountId: AccountId,
  message: WithdrawalMessage
})
export type OwnersWithdrawal = typeof OwnersWithdrawal.Type

export const Payload = Schema.Union([UserOperation, OwnersWithdrawal])
export type Payload = typeof Payload.Type

/** A signed transaction of a relayer. */
export const SignedBytes = Schema.Struct({
  relayer: EvmAddress,
  nonce: Schema.Int,
  /** What it offers; nodes take a replacement only for more. */
  fee: Schema.Int,
  callData: Schema.String
})
export type SignedBytes = typeof SignedBytes.Type

const payloadJson = Schema.fromJsonString(Payload)
const payloadsJson = Schema.fromJsonString(Schema.Array(Payload))
const signedJson = Schema.fromJsonString(SignedBytes)
const encodePayload = Schema.encodeSync(payloadJson)
const encodePayloads = Schema.encodeSync(payloadsJson)
const decodePayloads = Schema.decodeUnknownSync(payloadsJson)
const encodeSigned = Schema.encodeSync(signedJson)
const decodeSigned = Schema.decodeUnknownSync(signedJson)

const toHex = (text: string): string => `0x${Hex.encode(text)}`
const fromHex = (hex: string): string => Buffer.from(hex.slice(2), "hex").toString("utf8")

/** 32 bytes that name a text. */
export const digestOf = (text: string): string => `0x${createHash("sha256").update(text).digest("hex")}`

export const writePayloads = (payloads: ReadonlyArray<Payload>): string => toHex(encodePayloads(payloads))
export const readPayloads = (callData: string): ReadonlyArray<Payload> => decodePayloads(fromHex(callData))
export const writeSigned = (signed: SignedBytes): string => toHex(encodeSigned(signed))
export const readSigned = (raw: string): SignedBytes => decodeSigned(fromHex(raw))

/** The hash that names what is included; the same whoever submits it. */
export const actionHashOf = (payload: Payload): string => digestOf(encodePayload(payload))
