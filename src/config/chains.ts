/** Reads the chains of a deployment: a chain takes part when it has an RPC endpoint. */
import { Effect, Redacted, Schema } from "effect"
import { ChainId, EvmAddress } from "#domain/Caip.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { integer, kind, listOf, secretUrl } from "#src/config/kinds.ts"
import { all, optional, required, type Setting, withDefault } from "#src/config/Setting.ts"

/**
 * Chains by EIP-155 id, with the tokens through which a swap of two hops passes unless SWAP_HUBS_<chainId> names others:
 * the wrapped native token and USDC.
 */
const knownChains: ReadonlyArray<readonly [chainId: number, name: string, hubs: ReadonlyArray<string>]> = [
  [1, "Ethereum", ["0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]],
  [8453, "Base", ["0x4200000000000000000000000000000000000006", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]],
  [42161, "Arbitrum One", ["0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"]],
  [56, "BNB Smart Chain", ["0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"]],
  [4663, "Robinhood Chain", ["0x0Bd7D308f8E1639FAb988df18A8011f41EAcAD73"]]
]

/** Providers put their key into the URL. */
const endpoints = listOf(secretUrl(["https:", "http:"], "https://base.example.com/v1/key"))

const address = kind(
  EvmAddress,
  "a 20-byte hex address with a valid EIP-55 checksum when mixed-case",
  "0x4200000000000000000000000000000000000006"
)

const weiPerGwei = 1_000_000_000n

/** LI.FI's diamond, at the same address on most chains. Source: LI.FI's documentation. */
const lifiDiamond = "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE"

const decodeAddress = Schema.decodeSync(EvmAddress)

const chain = ([id, , hubs]: (typeof knownChains)[number]): Setting<EvmChain | null> =>
  Effect.flatMap(optional(`RPC_URL_${id}`, endpoints), (rpcUrls) => {
    if (rpcUrls === null) return Effect.succeed(null)
    const [first, ...others] = rpcUrls
    return Effect.map(
      all({
        bridge: optional(`BRIDGE_${id}`, address),
        routedSwap: optional(`ROUTED_SWAP_${id}`, address),
        diamond: withDefault<EvmAddress>(`LIFI_DIAMOND_${id}`, address, decodeAddress(lifiDiamond)),
        router: required(`UNISWAP_V2_ROUTER_${id}`, address),
        hubs: withDefault<ReadonlyArray<EvmAddress>>(
          `SWAP_HUBS_${id}`,
          listOf(address),
          hubs.map((hub) => decodeAddress(hub))
        ),
        confirmations: withDefault(`CONFIRMATIONS_${id}`, integer(1, 64, "1"), 1),
        gasCeilingGwei: withDefault(`GAS_CEILING_GWEI_${id}`, integer(1, 1_000_000, "50"), 500),
        bundleGas: withDefault(`BUNDLE_GAS_${id}`, integer(0, 16_777_216, "16777216"), 16_777_216),
        lowFundsGwei: withDefault(`RELAYER_LOW_GWEI_${id}`, integer(0, 1_000_000_000_000, "10000000"), 10_000_000)
      }),
      ({
        bridge,
        bundleGas,
        confirmations,
        diamond,
        gasCeilingGwei,
        hubs,
        lowFundsGwei,
        routedSwap,
        router
      }): EvmChain => ({
        ...(bridge === null ? {} : { bridge }),
        ...(routedSwap === null ? {} : { routedSwap: { contract: routedSwap, target: diamond } }),
        chainId: ChainId.make(id),
        rpcUrls: [Redacted.value(first), ...others.map(Redacted.value)],
        router,
        hubs,
        confirmations,
        gasCeiling: BigInt(gasCeilingGwei) * weiPerGwei,
        bundleGas: BigInt(bundleGas),
        lowRelayerFunds: BigInt(lowFundsGwei) * weiPerGwei
      })
    )
  })

/** All configured chains, at least one, in the order of the table above. */
export const chains: Setting<ReadonlyArray<EvmChain>> = Effect.gen(function* () {
  const read = yield* all(Object.fromEntries(knownChains.map((known) => [known[1], chain(known)])))
  const configured = knownChains.flatMap(([, name]) => read[name] ?? [])
  if (configured.length > 0) return configured
  const names = knownChains.map(([id, name]) => `RPC_URL_${id} (${name})`).join(", ")
  return yield* Effect.fail([
    `RPC_URL_<chainId>: no chain is configured; set at least one of ${names}, for example RPC_URL_8453=${endpoints.example}`
  ])
})
