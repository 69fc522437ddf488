/** Two real chains with everything installed, the EVM adapter against them, and an owner who enrolls and trades. */
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Address, keccak256, parseEther, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { type AssetId, type ChainId, erc20, type AccountId, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import type { Authorization } from "#domain/account/Authorization.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { type BatchOnOneChain, SwapBatches, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import { type Swap } from "#domain/trading/Swap.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { actionToSubmit } from "#domain/trading/PreparedBatch.ts"
import { asTransaction, type SignedTransaction } from "#domain/relay/Transaction.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { PriceAttestor } from "#domain/attestation/PriceAttestor.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { priceDigest } from "#layers/evm/attestation/priceDigest.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { type Chain, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { mint } from "#sandbox/chain/Faucet.ts"
import { addressOf } from "#layers/evm/address.ts"

const key = (name: string) => keccak256(toHex(`ballast test ${name}`))

export const owner = privateKeyToAccount(key("owner"))
export const agent = privateKeyToAccount(key("agent"))
export const stranger = privateKeyToAccount(key("stranger"))
export const relayer = privateKeyToAccount(key("relayer"))
export const attestor = privateKeyToAccount(key("attestor"))

export class EvmWorld extends Context.Service<EvmWorld, { readonly base: Chain; readonly arbitrum: Chain }>()(
  "ballast/test/EvmWorld"
) {
  static readonly layer = Layer.effect(
    EvmWorld,
    Effect.gen(function* () {
      const [base, arbitrum] = yield* Effect.all(
        [
          startChain({ chainId: 8453, attestor: attestor.address }),
          startChain({ chainId: 42161, attestor: attestor.address })
        ],
        { concurrency: "unbounded" }
      )
      for (const chain of [base, arbitrum]) {
        yield* setEther(chain, relayer.address, parseEther("1000"))
        yield* setEther(chain, stranger.address, parseEther("1000"))
      }
      return EvmWorld.of({ base, arbitrum })
    })
  )
}

export const asset = (chain: Chain, symbol: string): AssetId => tokenBySymbol(chain, symbol).assetId
export const token = (chain: Chain, symbol: string): EvmAddress => addressOf(asset(chain, symbol))
export const connectorTokensOf = (chain: Chain): ReadonlyArray<EvmAddress> => [
  token(chain, "USDC"),
  token(chain, "WETH")
]
export const chainIdOf = (chain: Chain) => chain.chainId as ChainId

/** What a deployment would configure for these chains. */
export const configFor = (
  chains: ReadonlyArray<Chain>,
  rpcUrl: (chain: Chain) => string = (chain) => chain.rpcUrl
) => ({
  chains: chains.map((chain) => ({
    chainId: chainIdOf(chain),
    rpcUrls: [rpcUrl(chain)] as const,
    router: chain.contracts.router as string as EvmAddress,
    connectorTokens: connectorTokensOf(chain),
    confirmations: 1,
    gasCeiling: 500_000_000_000n,
    minTip: 0n,
    lowRelayerFunds: parseEther("0.01")
  })),
  agent: { kind: "local", key: Redacted.make(key("agent") as string) } as const,
  relayers: [{ kind: "local", key: Redacted.make(key("relayer") as string) }] as const
})

/** The adapter's ports as another deployment has them, beside the world's own. */
export const adapterFor = (config: typeof EvmConfig.Service) =>
  Layer.fresh(EvmLive).pipe(
    Layer.provide(NoAttestor),
    Layer.provide(Layer.succeed(EvmConfig, config)),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

/** Those of a deployment in which as many blocks must confirm a transaction. */
export const patientAdapter = (chain: Chain, confirmations: number) => {
  const config = configFor([chain])
  return adapterFor({ ...config, chains: config.chains.map((one) => ({ ...one, confirmations })) })
}

const worldLive = (
  configOf: (chains: ReadonlyArray<Chain>) => ReturnType<typeof configFor>,
  attestors: Layer.Layer<PriceAttestor, never, EvmConfig | EvmWorld> = NoAttestor
) =>
  EvmLive.pipe(
    Layer.provide(attestors),
    Layer.provide(
      Layer.effect(
        EvmConfig,
        Effect.map(EvmWorld, ({ arbitrum, base }) => configOf([base, arbitrum]))
      )
    ),
    Layer.provide(SecureRandom.layerWebCrypto),
    Layer.provideMerge(EvmWorld.layer)
  )

/** The adapter's ports over the world, which itself stays reachable. */
export const EvmWorldLive = worldLive(configFor)

/** World with the bridge between both chains configured. */
export const ConnectedWorldLive = worldLive((chains) => {
  const config = configFor(chains)
  return {
    ...config,
    chains: config.chains.map((chain, index) => ({
      ...chain,
      bridge: chains[index]!.contracts.bridge as string as EvmAddress
    }))
  }
})

/** World with the bridge and with routes of swaps. */
export const RoutedWorldLive = worldLive((chains) => {
  const config = configFor(chains)
  return {
    ...config,
    chains: config.chains.map((chain, index) => {
      const { bridge, diamond, routedSwap } = chains[index]!.contracts
      return {
        ...chain,
        bridge: bridge as string as EvmAddress,
        routedSwap: { contract: routedSwap as string as EvmAddress, target: diamond as string as EvmAddress }
      }
    })
  }
})

const guarded = (chains: ReadonlyArray<Chain>) => {
  const config = configFor(chains)
  return {
    ...config,
    chains: config.chains.map((chain, index) => {
      const { bridge, diamond, guard, routedSwap } = chains[index]!.contracts
      return {
        ...chain,
        bridge: bridge as string as EvmAddress,
        routedSwap: { contract: routedSwap as string as EvmAddress, target: diamond as string as EvmAddress },
        guard: guard as string as EvmAddress
      }
    })
  }
}

/** Signs the world's own prices, as an attestor would whose sources agree. */
const worldsAttestor = Layer.effect(
  PriceAttestor,
  Effect.map(EvmWorld, ({ arbitrum, base }) =>
    PriceAttestor.of({
      attest: ({ chainId, guard, notAfter, tokens }) =>
        Effect.promise(async () => {
          const { prices } = [base, arbitrum].find((chain) => chain.chainId === chainId)!
          const sign = async (one: EvmAddress) => {
            const price = { token: one, price: prices.price(erc20(chainId, one)), time: notAfter }
            return { ...price, signature: await attestor.sign({ hash: priceDigest({ chainId, guard }, price) }) }
          }
          return { signed: await Promise.all(tokens.map(sign)), refused: [] }
        })
    })
  )
)

/** Routes, a bridge and an attestor, under permissions whose policy is the guard. */
export const GuardedWorldLive = worldLive(guarded, worldsAttestor)

/** World with another attestor. */
export const attestedWorld = (attestors: Layer.Layer<PriceAttestor, never, EvmConfig>) => worldLive(guarded, attestors)

export const withdrawalDomainName = "Ballast Withdrawal Authorization"

export interface Enrollment {
  readonly authorization: Authorization
  readonly ownerSignature: string
  readonly account: EvmAddress
}

/** Authorizes the agent on the chains for the listed tokens, signed by the owner as a wallet would. */
export const enroll = Effect.fnUntraced(function* (
  accountIndex: bigint,
  chains: ReadonlyArray<readonly [chain: Chain, ...symbols: ReadonlyArray<string>]>
) {
  const accounts = yield* SmartAccounts
  const authorization = yield* accounts.authorize({
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner.address as string as EvmAddress),
    accountIndex,
    withdrawalDomainName,
    chains: chains.map(([chain, ...symbols]) => ({
      chainId: chainIdOf(chain),
      assets: symbols.map((symbol) => asset(chain, symbol))
    }))
  })
  const ownerSignature = yield* Effect.promise(() =>
    owner.signMessage({ message: { raw: authorization.root as `0x${string}` } })
  )
  return { authorization, ownerSignature, account: addressOf(authorization.chains[0].accountId) } satisfies Enrollment
})

export const accountOn = ({ authorization }: Enrollment, chain: Chain): AccountId =>
  authorization.chains.find(({ chainId }) => chainId === chain.chainId)!.accountId

export const fund = (
  chain: Chain,
  account: EvmAddress,
  { raw, symbol }: { readonly symbol: string; readonly raw: bigint }
) => mint(chain, account as string as Address, { token: tokenBySymbol(chain, symbol), amountRaw: raw })

export const mine = (chain: Chain, blocks = 1) => Effect.promise(() => chain.client.mine({ blocks }))

/** A swap at the venue's quote, less a tolerance in basis points. */
export const quotedSwap = Effect.fnUntraced(function* (
  chain: Chain,
  { buy, sell, sellAmountRaw }: { readonly sell: string; readonly buy: string; readonly sellAmountRaw: bigint },
  options: { readonly connectorTokens?: ReadonlyArray<EvmAddress>; readonly toleranceBps?: bigint } = {}
) {
  const venue = yield* Venue
  const request = { sell: asset(chain, sell), buy: asset(chain, buy), sellAmountRaw }
  const [quote] = yield* venue.quote({
    chainId: chainIdOf(chain),
    connectorTokens: options.connectorTokens ?? [],
    requests: [request]
  })
  if (quote == null) return yield* Effect.die(new Error(`No route from ${sell} to ${buy}`))
  const minBuyAmountRaw = (quote.buyAmountRaw * (10_000n - (options.toleranceBps ?? 0n))) / 10_000n
  return { ...request, minBuyAmountRaw, execution: quote.execution } satisfies Swap
})

/** One trade over as many paths as pay more together, each at its very quote. */
export const splitSwaps = Effect.fnUntraced(function* (
  chain: Chain,
  { buy, sell, sellAmountRaw }: { readonly sell: string; readonly buy: string; readonly sellAmountRaw: bigint }
) {
  const venue = yield* Venue
  const request = { sell: asset(chain, sell), buy: asset(chain, buy), sellAmountRaw }
  const split = { gainRaw: 0n, within: { priceImpactBps: 10_000, minRaw: () => 0n } } as const
  const [single] = yield* venue.quote({
    chainId: chainIdOf(chain),
    connectorTokens: connectorTokensOf(chain),
    requests: [request]
  })
  const [quote] = yield* venue.quote({
    chainId: chainIdOf(chain),
    connectorTokens: connectorTokensOf(chain),
    requests: [{ ...request, split }]
  })
  const swaps = (quote!.paths ?? []).map(({ buyAmountRaw: minBuyAmountRaw, execution, sellAmountRaw }): Swap => ({
    ...request,
    sellAmountRaw,
    minBuyAmountRaw,
    execution
  }))
  return { single: single!, quote: quote!, swaps }
})

export const batchOf = (
  { authorization, ownerSignature }: Enrollment,
  chain: Chain,
  swaps: ReadonlyArray<Swap>
): BatchOnOneChain => ({
  chainId: chainIdOf(chain),
  authorization,
  ownerSignature,
  swaps
})

/** The receipt, once there is one: a node answers a sent transaction before it has mined it. */
export const confirmed = Effect.fnUntraced(function* (signed: SignedTransaction, accountId: AccountId) {
  const actions = yield* ActionReceipts
  return yield* actions
    .find(signed, accountId)
    .pipe(Effect.flatMap(Effect.fromOption), Effect.retry({ times: 3_000, schedule: Schedule.spaced("20 millis") }))
})

/** Carries a batch out from preparation to receipt. */
export const execute = Effect.fnUntraced(function* (batch: SwapBatch) {
  const execution = yield* SwapBatches
  const relay = yield* Relayer
  const prepared = asTransaction(actionToSubmit(yield* execution.prepareForRun(batch)))
  const signed = yield* relay.sign(prepared, prepared.chainNonce)
  yield* relay.broadcast(signed)
  return { prepared, signed, receipt: yield* confirmed(signed, prepared.accountId) }
})
