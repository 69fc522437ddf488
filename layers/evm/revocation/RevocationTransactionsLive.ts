/** Revocations as user operations that owners signed, submitted by the relayer. */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import {
  RevocationTransactions,
  type RevocationRequest,
  type SignedRevocation
} from "#domain/revocation/RevocationTransactions.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { relayerAddresses } from "#layers/evm/execution/chainState.ts"
import { findReceipt } from "#layers/evm/execution/findReceipt.ts"
import { draftRevocation } from "#layers/evm/revocation/draftRevocation.ts"
import { hasEnded, prepareRevocation } from "#layers/evm/revocation/prepareRevocation.ts"

export const RevocationTransactionsLive = Layer.effect(
  RevocationTransactions,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const random = yield* SecureRandom.SecureRandom
    const relayers = yield* relayerAddresses

    const draft = Effect.fn("RevocationTransactions.draft")(
      (request: RevocationRequest) => draftRevocation(request),
      Effect.provideService(EvmClients, clients),
      Effect.provideService(SecureRandom.SecureRandom, random)
    )

    const ended = Effect.fn("RevocationTransactions.hasEnded")(hasEnded, Effect.provideService(EvmClients, clients))

    const prepare = Effect.fn("RevocationTransactions.prepare")(
      (signed: SignedRevocation, chain: ChainRevocation) => prepareRevocation(signed, chain, relayers),
      Effect.provideService(EvmClients, clients)
    )

    const find = Effect.fn("RevocationTransactions.find")(
      (transaction: SignedTransaction, { accountId }: ChainRevocation) => findReceipt(transaction, accountId),
      Effect.provideService(EvmClients, clients)
    )

    return RevocationTransactions.of({ draft, hasEnded: ended, prepare, find })
  })
)
