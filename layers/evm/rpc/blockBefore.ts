/** The block from which on something is sought that is younger than a time, by the chain's own times. */
import { Clock, Effect } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

/** Blocks are taken to come this fast at first. Where they come faster the search goes further back. */
const assumedBlockMs = 200
/** Clocks of chains, and of this service, differ by less. */
export const clockSkewMs = 60_000

export interface Since {
  /** Milliseconds since 1970. */
  readonly millis: number
  /** How far back it is searched at most. */
  readonly maxBlocks: bigint
}

/** One that is older, or the oldest that is searched. */
export const blockBefore = Effect.fnUntraced(function* (chainId: ChainId, { maxBlocks, millis }: Since, head: bigint) {
  const { request } = yield* EvmClients
  const notAfterMs = millis - clockSkewMs
  const elapsedMs = Math.max(clockSkewMs, (yield* Clock.currentTimeMillis) - notAfterMs)
  for (let blocks = BigInt(Math.ceil(elapsedMs / assumedBlockMs)); blocks < maxBlocks && blocks <= head; blocks *= 2n) {
    const blockNumber = head - blocks + 1n
    const { timestamp } = yield* request(chainId, "eth_getBlockByNumber", (client) => client.getBlock({ blockNumber }))
    if (Number(timestamp) * 1_000 <= notAfterMs) return blockNumber
  }
  return head < maxBlocks ? 0n : head - maxBlocks + 1n
})
