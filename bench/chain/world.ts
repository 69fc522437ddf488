/**
 * The whole service over one real chain: engine, scheduler, stores, adapters, accounts under the guard, pools and
 * feeds.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Console, DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Hex, keccak256, toHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { NoIssuer } from "#bench/engine/noIssuer.ts"
import { benchSettings } from "#bench/engine/settings.ts"
import { databaseLayer } from "#bench/http/benchDatabase.ts"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { BalancesOnce } from "#domain/asset/BalancesOnce.ts"
import { CurrentBalances } from "#domain/chain/CurrentBalances.ts"
import { Prices } from "#domain/market/Prices.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { addressOf } from "#layers/evm/address.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"

const key = (name: string): Hex => keccak256(toHex(`ballast bench ${name}`))

export const relayerKey = key("relayer")
/** The bare script's own, as the service takes it for granted that nobody else uses its relayer's nonces. */
export const bareKey = key("bare script")
/** Who submits operations, in either way. */
export const submitters = [relayerKey, bareKey].map((one) => privateKeyToAddress(one))

/** The relayer's key in this process. */
export const localRelayer: SignerConfig = { kind: "local", key: Redacted.make(relayerKey as string) }

const evmConfig = (chain: Chain, rpcUrls: ServiceSite["rpcUrls"], relayer: SignerConfig): EvmConfig["Service"] => ({
  chains: [
    {
      chainId: chain.chainId as ChainId,
      rpcUrls,
      router: chain.contracts.router as string as EvmAddress,
      guard: chain.contracts.guard as string as EvmAddress,
      connectorTokens: ["USDC", "WETH"].map((symbol) => addressOf(tokenBySymbol(chain, symbol).assetId)),
      confirmations: 1,
      gasCeiling: 500_000_000_000n,
      minTip: 0n,
      lowRelayerFunds: 1n
    }
  ],
  agent: { kind: "local", key: Redacted.make(key("agent") as string) },
  relayers: [relayer]
})

const pricesOf = ({ prices }: Chain) =>
  Layer.succeed(Prices, {
    latest: (assetIds) =>
      Effect.map(
        DateTime.now,
        (asOf) => new Map(assetIds.map((assetId) => [assetId, { usd: prices.price(assetId), asOf }] as const))
      )
  })

const unused = Effect.die(new Error("Nothing is routed here"))
const RoutingNone = Layer.succeed(Routing, {
  quote: () => unused,
  status: () => unused,
  swapQuotes: () => unused,
  swapCall: () => unused
})

interface ServiceSite {
  /** The service's requests to the chain go through them. */
  readonly rpcUrls: readonly [string, ...ReadonlyArray<string>]
  readonly database: string
  readonly relayer: SignerConfig
}

export const serviceOn = (chain: Chain, { database, relayer, rpcUrls }: ServiceSite) =>
  Scheduler.layer.pipe(
    Layer.provideMerge(EngineLive),
    Layer.provideMerge(BalancesOnce),
    Layer.provideMerge(CurrentBalances),
    Layer.provideMerge(
      Layer.mergeAll(
        SqlLive,
        pricesOf(chain),
        RoutingNone,
        NoIssuer,
        FamiliesLive,
        EvmLive.pipe(
          Layer.provide(NoAttestor),
          Layer.provide(Layer.succeed(EvmConfig, evmConfig(chain, rpcUrls, relayer)))
        )
      )
    ),
    Layer.provideMerge(Layer.mergeAll(databaseLayer(database), benchSettings())),
    Layer.provideMerge(Layer.mergeAll(NodeCrypto.layer, SecureRandom.layerWebCrypto))
  )

/** Says how far a phase has come, at most once a second. */
export const progress = (phase: string, total: number) => {
  let [saidAt, said] = [performance.now(), 0]
  return (done: number) => {
    const now = performance.now()
    if (done === said || (now - saidAt < 1_000 && done < total)) return Effect.void
    saidAt = now
    said = done
    return Console.log(`  ${phase}: ${done} of ${total}`)
  }
}
