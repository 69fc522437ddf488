/** Reads the chains of a deployment: a chain takes part when it has an RPC endpoint. */
import { Effect, Redacted, Schema } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import { type AssetId, ChainId, EvmAddress, solanaChainId, spl } from "#domain/values/Caip.ts"
import { knownChain } from "#domain/chain/knownChains.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { integer, kind, listOf, secretUrl, text } from "#src/config/kinds.ts"
import { all, optional, readAgain, required, type Setting, withDefault } from "#src/config/Setting.ts"

interface ConfigurableChain {
  /** Its name is in domain/chain/knownChains.ts. */
  readonly id: number
  /**
   * Tokens through which a swap of two hops passes unless SWAP_CONNECTOR_TOKENS_<chainId> names others: wrapped native
   * token and USDC.
   */
  readonly connectorTokens: ReadonlyArray<string>
  /**
   * Blocks that make a transaction final unless CONFIRMATIONS_<chainId> is set; reasons in docs/decisions/0092.
   */
  readonly confirmations: number
  /** Gwei for a unit of gas above which nothing is paid unless GAS_CEILING_GWEI_<chainId> is set. */
  readonly gasCeilingGwei: number
  /** US dollars that a transaction of the agent may cost unless GAS_CEILING_USD_<chainId> is set. */
  readonly gasCeilingUsd: bigint
  /** Seconds that the latest block of a node may be old unless HEAD_MAX_AGE_SECONDS_<chainId> is set. */
  readonly headMaxAgeSeconds: number
  /** Wei that are offered as a tip at least; reasons of both in docs/decisions/0329. */
  readonly minTip: bigint
  /** How it charges for the bytes of a transaction; left out where it does not. */
  readonly rollup?: "optimism" | "arbitrum"
  /** The stablecoin that Ondo takes and pays there; left out where that is not known. Source: Ondo's documentation. */
  readonly ondoStable?: string
}

const knownChains: ReadonlyArray<ConfigurableChain> = [
  {
    id: 1,
    connectorTokens: ["0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"],
    confirmations: 12,
    gasCeilingGwei: 200,
    gasCeilingUsd: 200n,
    headMaxAgeSeconds: 300,
    minTip: 50_000_000n,
    ondoStable: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
  },
  {
    id: 8453,
    connectorTokens: ["0x4200000000000000000000000000000000000006", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
    confirmations: 10,
    gasCeilingGwei: 10,
    gasCeilingUsd: 10n,
    headMaxAgeSeconds: 120,
    minTip: 1_000_000n,
    rollup: "optimism"
  },
  {
    id: 42161,
    connectorTokens: ["0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"],
    confirmations: 30,
    gasCeilingGwei: 10,
    gasCeilingUsd: 10n,
    headMaxAgeSeconds: 120,
    minTip: 0n,
    rollup: "arbitrum"
  },
  {
    id: 56,
    connectorTokens: ["0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"],
    confirmations: 15,
    gasCeilingGwei: 20,
    gasCeilingUsd: 10n,
    headMaxAgeSeconds: 120,
    minTip: 50_000_000n,
    ondoStable: "0x55d398326f99059fF775485246999027B3197955"
  },
  {
    id: 4663,
    connectorTokens: ["0x0Bd7D308f8E1639FAb988df18A8011f41EAcAD73"],
    confirmations: 30,
    gasCeilingGwei: 10,
    gasCeilingUsd: 10n,
    headMaxAgeSeconds: 3600,
    minTip: 0n,
    rollup: "arbitrum"
  }
]

/** The asset by whose price gas is valued: the chain's native coin wrapped. */
export const wrappedNatives: ReadonlyMap<ChainId, AssetId> = new Map<ChainId, AssetId>([
  ...knownChains.flatMap(({ id }) => {
    const coin = nativeCoinOn(ChainId.make(id))
    return coin === undefined ? [] : [[ChainId.make(id), coin.wrapped] as const]
  }),
  [solanaChainId, spl("So11111111111111111111111111111111111111112")]
])

/** Providers put their key into the URL. */
const endpoints = listOf(secretUrl(["https:", "http:"], "https://base.example.com/v1/key"))

const address = kind(
  EvmAddress,
  "a 20-byte hex address with a valid EIP-55 checksum when mixed-case",
  "0x4200000000000000000000000000000000000006"
)

const dollars = kind(
  Decimal.UsdFromString.check(
    Schema.isBetweenBigInt({ minimum: Decimal.one / 100n, maximum: 1_000_000n * Decimal.one })
  ),
  "US dollars from 0.01 to 1000000 with at most 6 decimal places",
  "10.00"
)

const weiPerGwei = 1_000_000_000n

/** LI.FI's diamond, at the same address on most chains. Source: LI.FI's documentation. */
const lifiDiamond = "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE"

const decodeAddress = Schema.decodeSync(EvmAddress)

/** How Ondo calls the chains on which it trades: name and id. Source: Ondo's documentation, `POST /v1/attestations`. */
const ondoChains: ReadonlyMap<number, string> = new Map([
  [1, "ethereum-1"],
  [56, "bsc-56"]
])

/** The contract that Ondo has on a chain, and what goes with it; without the contract nothing is traded with Ondo. */
const issuerOn = ({ id, ondoStable }: ConfigurableChain): Setting<EvmChain["issuer"] | null> =>
  Effect.flatMap(optional(`ONDO_MANAGER_${id}`, address), (manager) => {
    if (manager === null) return Effect.succeed(null)
    const chainName = text("the chain as Ondo calls it", "ethereum-1")
    const known = ondoChains.get(id)
    return all({
      manager: Effect.succeed(manager),
      stable:
        ondoStable === undefined
          ? required(`ONDO_STABLE_${id}`, address)
          : withDefault<EvmAddress>(`ONDO_STABLE_${id}`, address, decodeAddress(ondoStable)),
      chain:
        known === undefined
          ? required(`ONDO_CHAIN_${id}`, chainName)
          : withDefault<string>(`ONDO_CHAIN_${id}`, chainName, known)
    })
  })

const connectorTokensOn = ({ connectorTokens, id }: ConfigurableChain): Setting<ReadonlyArray<EvmAddress>> =>
  withDefault<ReadonlyArray<EvmAddress>>(
    `SWAP_CONNECTOR_TOKENS_${id}`,
    listOf(address),
    connectorTokens.map((token) => decodeAddress(token))
  )

const chain = (known: ConfigurableChain): Setting<EvmChain | null> => {
  const { confirmations: byDefault, gasCeilingGwei: ceilingByDefault, id, minTip, rollup } = known
  return Effect.flatMap(optional(`RPC_URL_${id}`, endpoints), (rpcUrls) => {
    if (rpcUrls === null) return Effect.succeed(null)
    const [first, ...others] = rpcUrls
    return Effect.map(
      all({
        issuer: issuerOn(known),
        bridge: optional(`BRIDGE_${id}`, address),
        routedSwap: optional(`ROUTED_SWAP_${id}`, address),
        guard: optional(`TRADE_GUARD_${id}`, address),
        diamond: withDefault<EvmAddress>(`LIFI_DIAMOND_${id}`, address, decodeAddress(lifiDiamond)),
        router: required(`UNISWAP_V2_ROUTER_${id}`, address),
        connectorTokens: connectorTokensOn(known),
        confirmations: withDefault(`CONFIRMATIONS_${id}`, integer(1, 64, `${byDefault}`), byDefault),
        headMaxAgeSeconds: withDefault(
          `HEAD_MAX_AGE_SECONDS_${id}`,
          integer(10, 86_400, `${known.headMaxAgeSeconds}`),
          known.headMaxAgeSeconds
        ),
        gasCeilingGwei: withDefault(
          `GAS_CEILING_GWEI_${id}`,
          integer(1, 1_000_000, `${ceilingByDefault}`),
          ceilingByDefault
        ),
        bundleGas: withDefault(`BUNDLE_GAS_${id}`, integer(0, 16_777_216, "16777216"), 16_777_216),
        lowFundsGwei: withDefault(`RELAYER_LOW_GWEI_${id}`, integer(0, 1_000_000_000_000, "10000000"), 10_000_000)
      }),
      ({
        bridge,
        bundleGas,
        confirmations,
        diamond,
        gasCeilingGwei,
        guard,
        headMaxAgeSeconds,
        connectorTokens,
        issuer,
        lowFundsGwei,
        routedSwap,
        router
      }): EvmChain => ({
        ...(bridge === null ? {} : { bridge }),
        ...(issuer === null || issuer === undefined ? {} : { issuer }),
        ...(guard === null ? {} : { guard }),
        ...(routedSwap === null ? {} : { routedSwap: { contract: routedSwap, target: diamond } }),
        chainId: ChainId.make(id),
        rpcUrls: [Redacted.value(first), ...others.map(Redacted.value)],
        router,
        connectorTokens,
        confirmations,
        headMaxAgeSeconds,
        gasCeiling: BigInt(gasCeilingGwei) * weiPerGwei,
        minTip,
        ...(rollup === undefined ? {} : { rollup }),
        bundleGas: BigInt(bundleGas),
        lowRelayerFunds: BigInt(lowFundsGwei) * weiPerGwei
      })
    )
  })
}

/** All configured chains, at least one, in the order of the table above. */
export const chains: Setting<ReadonlyArray<EvmChain>> = Effect.gen(function* () {
  const read = yield* all(Object.fromEntries(knownChains.map((known) => [`RPC_URL_${known.id}`, chain(known)])))
  const configured = knownChains.flatMap(({ id }) => read[`RPC_URL_${id}`] ?? [])
  if (configured.length > 0) return configured
  const names = knownChains.map(({ id }) => `RPC_URL_${id} (${knownChain(ChainId.make(id))?.name ?? id})`).join(", ")
  return yield* Effect.fail([
    `RPC_URL_<chainId>: no chain is configured; set at least one of ${names}, for example RPC_URL_8453=${endpoints.example}`
  ])
})

const gasCeilingUsdOn = ({ gasCeilingUsd, id }: ConfigurableChain): Setting<bigint | null> =>
  Effect.flatMap(
    // What is wrong with it is said where the chain itself is read.
    Effect.orElseSucceed(readAgain(`RPC_URL_${id}`, endpoints), () => null),
    (rpcUrls) =>
      rpcUrls === null
        ? Effect.succeed(null)
        : withDefault(`GAS_CEILING_USD_${id}`, dollars, gasCeilingUsd * Decimal.one)
  )

/** US dollars (wad) that a transaction of the agent may cost, of each configured chain. */
export const gasCeilingsUsd: Setting<ReadonlyMap<ChainId, bigint>> = Effect.map(
  all(Object.fromEntries(knownChains.map((known) => [known.id, gasCeilingUsdOn(known)]))),
  (read) =>
    new Map(
      Object.entries(read).flatMap(([id, usd]) => (usd === null ? [] : [[ChainId.make(Number(id)), usd] as const]))
    )
)

/** A chain whose prices are attested, and the guards there that take them. */
export interface GuardedChain extends Pick<EvmChain, "chainId" | "rpcUrls"> {
  readonly guards: readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]
}

const guardedChain = ({ id }: ConfigurableChain): Setting<GuardedChain | null> =>
  Effect.gen(function* () {
    const rpcUrls = yield* optional(`RPC_URL_${id}`, endpoints)
    if (rpcUrls === null) return null
    const guards = yield* required(`TRADE_GUARD_${id}`, listOf(address))
    const [first, ...others] = rpcUrls
    return {
      chainId: ChainId.make(id),
      rpcUrls: [Redacted.value(first), ...others.map(Redacted.value)] as const,
      guards
    }
  })

/**
 * The chains of the price attestor's process, at least one. A guard that was replaced stays in the list while accounts
 * use it.
 */
export const guardedChains: Setting<ReadonlyArray<GuardedChain>> = Effect.gen(function* () {
  const read = yield* all(Object.fromEntries(knownChains.map((known) => [`RPC_URL_${known.id}`, guardedChain(known)])))
  const configured = knownChains.flatMap(({ id }) => read[`RPC_URL_${id}`] ?? [])
  if (configured.length > 0) return configured
  return yield* Effect.fail([
    "RPC_URL_<chainId>: no chain is configured; set RPC_URL_8453 and TRADE_GUARD_8453, or others"
  ])
})
