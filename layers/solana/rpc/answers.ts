/** What a Solana node answers, as far as it is read. Source: the documentation of the JSON-RPC methods. */
import { Schema } from "effect"
import * as Base58 from "#domain/values/Base58.ts"

/** Slots, heights and lamports are JSON numbers. One above 2^53 was rounded on the way, and is refused. */
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const Key = Schema.String.check(
  Schema.makeFilter((text) => Base58.isBytes32(text), { expected: "32 bytes in base58" })
)

/** A value with the slot at which the node read it. */
const inContext = <S extends Schema.Constraint>(value: S) =>
  Schema.Struct({ context: Schema.Struct({ slot: Count }), value })

export const Blockhash = inContext(Schema.Struct({ blockhash: Key, lastValidBlockHeight: Count }))

export const Lamports = Count
export const Slot = Count

export const Position = Schema.Struct({ absoluteSlot: Count, blockHeight: Count })

export const RawAccount = Schema.Struct({
  data: Schema.Tuple([Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]*={0,2}$/u)), Schema.Literal("base64")]),
  executable: Schema.Boolean,
  lamports: Count,
  owner: Key
})

export const Accounts = inContext(Schema.Array(Schema.NullOr(RawAccount)))

export const OwnedAccounts = inContext(Schema.Array(Schema.Struct({ pubkey: Key, account: RawAccount })))

/** `err` is null where the transaction took effect. */
export const Statuses = inContext(
  Schema.Array(
    Schema.NullOr(
      Schema.Struct({
        slot: Count,
        err: Schema.Unknown,
        confirmationStatus: Schema.NullOr(Schema.Literals(["processed", "confirmed", "finalized"]))
      })
    )
  )
)

const Signature = Schema.String.check(Schema.isPattern(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/u))

/** Signatures of an address, newest first. `err` is null where the transaction took effect. */
export const Signatures = Schema.Array(Schema.Struct({ signature: Signature, slot: Count, err: Schema.Unknown }))

const TokenBalances = Schema.Array(
  Schema.Struct({
    accountIndex: Count,
    mint: Key,
    owner: Schema.optionalKey(Key),
    uiTokenAmount: Schema.Struct({ amount: Schema.String.check(Schema.isPattern(/^\d{1,20}$/u)) })
  })
)

/** A transaction in a block, with what its accounts held before and after it; null where the node has none. */
export const Transaction = Schema.NullOr(
  Schema.Struct({
    slot: Count,
    transaction: Schema.Tuple([
      Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{1,1644}={0,2}$/u)),
      Schema.Literal("base64")
    ]),
    meta: Schema.Struct({
      err: Schema.Unknown,
      preBalances: Schema.Array(Count),
      postBalances: Schema.Array(Count),
      preTokenBalances: TokenBalances,
      postTokenBalances: TokenBalances,
      loadedAddresses: Schema.optionalKey(Schema.Struct({ writable: Schema.Array(Key), readonly: Schema.Array(Key) }))
    })
  })
)

export const Simulation = inContext(
  Schema.Struct({
    err: Schema.Unknown,
    logs: Schema.NullOr(Schema.Array(Schema.String)),
    unitsConsumed: Schema.optionalKey(Count)
  })
)

export const RecentFees = Schema.Array(Schema.Struct({ slot: Count, prioritizationFee: Count }))

/** The envelope: a result, or the node's own error. */
export const Envelope = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})
