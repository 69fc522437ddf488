/** Port: the account that submits transactions and pays for them. It can do nothing with anybody's money. */
import { Context, type Effect } from "effect"
import type { EvmAddress } from "#domain/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { PreparedTransaction, SignedTransaction } from "#domain/relay/Transaction.ts"

export class Relayer extends Context.Service<
  Relayer,
  {
    /** The one whose nonces are reserved. */
    readonly address: EvmAddress
    /** Signs with the reserved nonce. Local, no network. */
    readonly sign: (prepared: PreparedTransaction, nonce: number) => Effect.Effect<SignedTransaction>
    /** Sends the stored bytes; bytes that the chain already knows or has mined count as sent. */
    readonly broadcast: (transaction: SignedTransaction) => Effect.Effect<void, ChainUnavailable>
  }
>()("ballast/domain/relay/Relayer") {}
