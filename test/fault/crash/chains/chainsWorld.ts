/** Real chains with the product's own adapters: real accounts, real signatures, a routing provider over HTTP. */
import { DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { type Address, getAbiItem } from "viem"
import { type AssetId, chainIdOf, type EvmAddress, namespaceOf, solanaChainId } from "#domain/values/Caip.ts"
import { Prices } from "#domain/market/Prices.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { entryPoint, entryPointAbi, withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { ResendEvery } from "#layers/solana/execution/submitPart.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaClients, SolanaLive } from "#layers/solana/SolanaLive.ts"
import { Boundaries } from "#test/fault/crash/Boundaries.ts"
import { LifiConfig } from "#layers/routing/lifi/LifiConfig.ts"
import { NoIssuer } from "#bench/engine/noIssuer.ts"
import { LifiRouting } from "#layers/routing/lifi/LifiRouting.ts"
import { type ChainClient, makeClient } from "#sandbox/chain/Anvil.ts"
import { splCatalog } from "#sandbox/assets/splCatalog.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"
import { type ChainsConfig, chainAsset } from "#test/fault/crash/chains/ChainsConfig.ts"
import { type Included, ChainWitness } from "#test/fault/crash/chains/ChainWitness.ts"
import { addressOf } from "#layers/evm/address.ts"

const operationEvent = getAbiItem({ abi: entryPointAbi, name: "UserOperationEvent" })
const withdrawnEvent = getAbiItem({ abi: withdrawalExecutorAbi, name: "Withdrawn" })

/**
 * Reads actions by the events that they leave: of the account's operations, and of withdrawals by the owner's signature
 * alone.
 */
const includedOn = async (
  client: ChainClient,
  account: Address,
  relayer: EvmAddress
): Promise<ReadonlyArray<Included>> => {
  const all = { fromBlock: 0n, strict: true } as const
  const operations = await client.getLogs({
    ...all,
    address: entryPoint,
    event: operationEvent,
    args: { sender: account }
  })
  const withdrawals = await client.getLogs({
    ...all,
    address: withdrawalExecutor,
    event: withdrawnEvent,
    args: { account }
  })
  const byHash = new Map(withdrawals.map(({ transactionHash }) => [transactionHash, true]))
  for (const { args, transactionHash } of operations) byHash.set(transactionHash, args.success)
  return Promise.all(
    [...byHash].map(async ([hash, success]) => {
      const { from } = await client.getTransaction({ hash })
      return { success, byRelayer: from.toLowerCase() === relayer.toLowerCase() }
    })
  )
}

/** Boundaries around the sending of bytes, as `crashingPorts` has them for relayers. */
const crashingRpc = Layer.effect(
  SolanaRpc,
  Effect.gen(function* () {
    const rpc = yield* SolanaRpc
    const { pass } = yield* Boundaries
    return SolanaRpc.of({
      ...rpc,
      send: (transaction) =>
        pass(`sending to ${solanaChainId}`).pipe(
          Effect.andThen(rpc.send(transaction)),
          Effect.tap(() => pass(`sent to ${solanaChainId}, unheard`))
        )
    })
  })
)

const fixedPrices = (chainIds: ReadonlyArray<number>) => {
  const tokens = [...chainIds.flatMap((chainId) => catalogChain(chainId)!.tokens), ...splCatalog]
  const known = new Map<AssetId, bigint>(tokens.map(({ assetId, initialPriceUsd }) => [assetId, initialPriceUsd]))
  return Prices.of({
    latest: (ids) =>
      Effect.map(
        DateTime.now,
        (asOf) => new Map(ids.flatMap((id) => (known.has(id) ? [[id, { usd: known.get(id)!, asOf }] as const] : [])))
      )
  })
}

/** How the service has its chains. */
export interface ChainsAccess {
  /** Value may move between them. */
  readonly isConnected: boolean
  /** True for two nodes each, the first of which is behind. */
  readonly lags?: boolean
}

export const chainsWorld = (config: ChainsConfig, { isConnected, lags = false }: ChainsAccess) => {
  const { agentKey, chains, lifiUrl, relayer, relayerKey } = config
  const clients = new Map(chains.map(({ chainId, rpcUrl }) => [chainId, makeClient(chainId, rpcUrl)]))
  const evm = Layer.succeed(EvmConfig, {
    chains: chains.map(({ bridge, chainId, nodes, router, rpcUrl }) => ({
      chainId,
      rpcUrls: lags ? nodes : ([rpcUrl] as const),
      router,
      connectorTokens: ["USDC", "WETH"].map((symbol) => addressOf(chainAsset(chainId, symbol).assetId)),
      confirmations: 1,
      gasCeiling: 500_000_000_000n,
      minTip: 0n,
      lowRelayerFunds: 1n,
      ...(isConnected ? { bridge } : {})
    })),
    agent: { kind: "local", key: Redacted.make(agentKey) },
    relayers: [{ kind: "local", key: Redacted.make(relayerKey) }]
  })
  const witness = ChainWitness.of({
    usedNonces: (chainId, account) =>
      Effect.promise(() => clients.get(chainId)!.getTransactionCount({ address: account as string as Address })),
    // What left an account on Solana is derived from its balance: each authorization of an owner names an exact amount.
    included: (account) =>
      namespaceOf(account) === "solana"
        ? Effect.succeed([])
        : Effect.promise(() =>
            includedOn(clients.get(chainIdOf(account))!, addressOf(account) as string as Address, relayer)
          )
  })
  const solana = Layer.succeed(SolanaConfig, {
    rpcUrls: [Redacted.make(config.solana.rpcUrl)],
    agentSeed: Redacted.make(new Uint8Array(Buffer.from(config.solana.agentSeed, "hex"))),
    fees: { percentile: 75, maxPriorityLamports: 1_000_000n },
    jupiter: { baseUrl: config.solana.jupiterUrl, apiKey: null, requestsPerSecond: 1_000 }
  })
  return Layer.mergeAll(
    NoIssuer,
    SolanaLive.pipe(
      Layer.provideMerge(EvmLive.pipe(Layer.provide([NoAttestor, evm]))),
      Layer.provide(crashingRpc.pipe(Layer.provideMerge(SolanaClients))),
      Layer.provide([solana, Layer.succeed(ResendEvery, Duration.millis(100))])
    ),
    LifiRouting.pipe(
      Layer.provide([
        evm,
        Layer.succeed(LifiConfig, { baseUrl: lifiUrl, apiKey: null, exchanges: null, integrator: "ballast" })
      ])
    ),
    Layer.succeed(Prices, fixedPrices(chains.map(({ chainId }) => chainId))),
    Layer.succeed(ChainWitness, witness)
  )
}
