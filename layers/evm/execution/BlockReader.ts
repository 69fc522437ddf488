/**
 * The block, the fees and the relayers' next nonces, read once for all operations that are prepared at the same moment.
 *
 * What is some moments old does as well: the deadline is minutes away, the fees offered last for blocks, and a stored
 * nonce is never lowered.
 */
import { Context, Duration, Effect, Layer } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import {
  type BlockState,
  relayerAddresses,
  type RelayerNonces,
  readBlockState,
  readRelayerNonces
} from "#layers/evm/execution/chainState.ts"
import { sharedReading } from "#layers/evm/rpc/sharedReading.ts"

/** Time for which a reading serves; blocks come every quarter of a second to every two seconds. */
const maxAge = Duration.millis(500)

export interface BlockReading {
  readonly block: BlockState
  readonly nonces: RelayerNonces
}

export class BlockReader extends Context.Service<
  BlockReader,
  {
    /** Fails while gas costs more than the chain's ceiling. */
    readonly read: (chainId: ChainId) => Effect.Effect<BlockReading, ChainUnavailable>
    /** Something was sent to the chain: its nonce is used, and the next block is about to come. */
    readonly invalidate: (chainId: ChainId) => Effect.Effect<void>
  }
>()("ballast/layers/evm/execution/BlockReader") {
  static readonly layer = Layer.effect(
    BlockReader,
    Effect.gen(function* () {
      const clients = yield* EvmClients
      const relayers = yield* relayerAddresses
      const readings = yield* sharedReading(maxAge, Number, (chainId: ChainId) =>
        Effect.all(
          { block: readBlockState(chainId), nonces: readRelayerNonces(chainId, relayers) },
          { concurrency: "unbounded" }
        ).pipe(Effect.provideService(EvmClients, clients))
      )
      return BlockReader.of(readings)
    })
  )
}
