import { Clock, Effect, type Scope } from "effect"
import { type Abi, type Address, type Hex, numberToHex } from "viem"
import type * as Caip from "#domain/values/Caip.ts"
import type { ChainFile } from "#layers/evm/deployment/ChainFile.ts"
import { type ChainClient, keptStates, startAnvil } from "#sandbox/chain/Anvil.ts"
import { operator } from "#sandbox/chain/canonical.ts"
import { catalog, catalogChain, type CatalogChain, type Token } from "#sandbox/assets/catalog.ts"
import { chainFile } from "#sandbox/chain/chainFile.ts"
import { type ChainContracts, contractAddresses } from "#sandbox/chain/contractAddresses.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { admitOperator, installChain, type Installation } from "#sandbox/chain/installChain.ts"
import { mineByInterval } from "#sandbox/chain/mineByInterval.ts"
import type { OwnedProcess } from "#sandbox/process/ownedProcess.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** A running EVM chain with all of the world's contracts, tokens and pools. */
export interface Chain {
  readonly chainId: number
  /** Direct access, anvil's own methods included. */
  readonly rpcUrl: string
  readonly client: ChainClient
  readonly catalog: CatalogChain
  readonly tokens: ReadonlyArray<Token>
  readonly contracts: ChainContracts
  /** What it has beside Ballast, as the tool that deploys Ballast reads it. */
  readonly file: ChainFile
  readonly treasuryAbi: Abi
  readonly prices: PriceBook
  readonly process: OwnedProcess
}

/** How to start a chain. */
export interface ChainOptions {
  /** One of the catalogue: 8453 or 42161. */
  readonly chainId: number
  /** A loopback port; a free one by default. */
  readonly port?: number
  /** A dump of an earlier run, to go on from instead of installing. */
  readonly state?: Hex
  /** Time between blocks that come without an arrival; without it, blocks come on arrival alone, one for each. */
  readonly blockTimeMillis?: number
  /** Prices shared with other chains and feeds; the catalogue's by default. */
  readonly prices?: PriceBook
  /** Whose signed prices the chain's guard takes for tokens without a feed; nobody's by default. */
  readonly attestor?: Address
}

/** Moves the chain's time to an instant (milliseconds), from where it goes on in real time. It cannot go back. */
export const setChainTime = (client: ChainClient, millis: number): Effect.Effect<void, SandboxFailure> =>
  Effect.tryPromise({
    try: async () => {
      const target = Math.floor(millis / 1000)
      const latest = await client.getBlock({ blockTag: "latest" })
      await client.request<{ Parameters: readonly [Hex]; ReturnType: unknown }>({
        method: "evm_setTime",
        params: [numberToHex(Math.max(target, Number(latest.timestamp)))]
      })
      await client.mine({ blocks: 1 })
    },
    catch: (cause) => new SandboxFailure({ message: `Chain ${client.chain.id} refused to move its time`, cause })
  })

/** A dump holds the newest state alone, and nodes answer for older ones: empty blocks of the moment have it too. */
const refillStates = (client: ChainClient) =>
  Effect.tryPromise({
    try: () => client.mine({ blocks: keptStates, interval: 0 }),
    catch: (cause) => new SandboxFailure({ message: `Chain ${client.chain.id} refused to make blocks`, cause })
  })

const restore = Effect.fnUntraced(function* (
  { chain, client, contracts }: Installation,
  state: Hex,
  priceOf: (token: Token) => bigint
) {
  const at = contractAddresses(contracts, chain)
  const complete = yield* Effect.tryPromise({
    try: async () => {
      await client.loadState({ state })
      const codes = await Promise.all(
        [...Object.values(at), ...chain.tokens.map((token) => token.address)].map((address) =>
          client.getCode({ address })
        )
      )
      return codes.every((code) => code !== undefined)
    },
    catch: (cause) =>
      new SandboxFailure({
        message: `The saved state of chain ${chain.chainId} cannot be read. Start once with --reset`,
        cause
      })
  })
  if (!complete) {
    return yield* new SandboxFailure({
      message: `The saved state of chain ${chain.chainId} lacks contracts of this version. Start once with --reset`
    })
  }
  yield* admitOperator(client)
  yield* setChainTime(client, yield* Clock.currentTimeMillis)
  yield* refillStates(client)
  return { at, file: yield* chainFile({ at, chain, client, priceOf }) }
})

/**
 * Starts a chain and installs the world's contracts on it, or goes on from a dump. Anvil ends with the scope.
 * Fails with a `SandboxFailure` that says what is missing or broken.
 */
export const startChain = Effect.fn("startChain")(function* (
  options: ChainOptions
): Effect.fn.Return<Chain, SandboxFailure, Scope.Scope> {
  const entry = catalogChain(options.chainId)
  if (entry === undefined) {
    return yield* new SandboxFailure({
      message: `The sandbox has no chain ${options.chainId}, only ${catalog.map((chain) => chain.chainId).join(", ")}`
    })
  }
  const prices = options.prices ?? new PriceBook()
  const [anvil, contracts] = yield* Effect.all([startAnvil(options.chainId, options.port), loadContracts], {
    concurrency: "unbounded"
  })
  const installation: Installation = { client: anvil.client, contracts, chain: entry }
  const { at, file } =
    options.state === undefined
      ? yield* installChain(installation, { prices, attestor: options.attestor ?? operator })
      : yield* restore(installation, options.state, ({ assetId }) => prices.price(assetId))
  if (options.blockTimeMillis !== undefined) yield* mineByInterval(anvil.client, options.blockTimeMillis)
  return {
    chainId: options.chainId,
    rpcUrl: anvil.rpcUrl,
    client: anvil.client,
    catalog: entry,
    tokens: entry.tokens,
    contracts: at,
    file,
    treasuryAbi: contracts.own("Treasury").abi,
    prices,
    process: anvil.process
  }
})

/** The chain's token of an asset id. */
export const tokenOf = (chain: Chain, assetId: Caip.AssetId): Token | undefined =>
  chain.tokens.find((token) => token.assetId === assetId)

/** The chain's token of a symbol, for tests; throws when there is none. */
export const tokenBySymbol = (chain: Chain, symbol: string): Token => {
  const token = chain.tokens.find((candidate) => candidate.symbol === symbol)
  if (token === undefined) throw new Error(`Chain ${chain.chainId} has no token ${symbol}`)
  return token
}

/** The whole chain, to be given to `startChain` as `state` later. */
export const dumpState = (chain: Chain): Effect.Effect<Hex, SandboxFailure> =>
  Effect.tryPromise({
    try: () => chain.client.dumpState(),
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} could not be saved`, cause })
  })

/** Native ether of an account, set rather than sent: for relayers and wallets that pay gas. */
export const setEther = (chain: Chain, account: Address, wei: bigint): Effect.Effect<void, SandboxFailure> =>
  Effect.tryPromise({
    try: () => chain.client.setBalance({ address: account, value: wei }),
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} could not fund ${account}`, cause })
  })
