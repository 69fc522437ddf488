/**
 * Puts on an empty chain what real chains have, tokens, feeds, pools and the contracts of others, and then Ballast's
 * contracts, by the tool that operators use.
 *
 * Everything is deployed through the deterministic CREATE2 deployer, so addresses follow from the code alone and a
 * restored chain is recognised by reading them.
 */
import { Effect } from "effect"
import {
  type Address,
  concat,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  parseEther,
  stringToHex,
  toHex
} from "viem"
import { applyDeployment, stepsOfOthers } from "#layers/evm/deployment/applyDeployment.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import { create2Deployer, noSalt } from "#layers/evm/deployment/DeploymentTarget.ts"
import { planDeployment, requireReady } from "#layers/evm/deployment/planDeployment.ts"
import type { ChainClient } from "#sandbox/chain/Anvil.ts"
import { canonical, guardKeys, operator } from "#sandbox/chain/canonical.ts"
import { chainFile } from "#sandbox/chain/chainFile.ts"
import type { CatalogChain, Token } from "#sandbox/assets/catalog.ts"
import { type ChainContracts, contractAddresses, initCodes } from "#sandbox/chain/contractAddresses.ts"
import type { Contracts } from "#sandbox/chain/Contracts.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { poolsOf, sideAmount } from "#sandbox/chain/Pools.ts"
import { installFeeds } from "#sandbox/chain/priceFeeds.ts"
import { setRoutePools } from "#sandbox/chain/routePools.ts"
import type { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** The salt with which EntryPoint 0.7 was deployed on every chain (eth-infinitism/account-abstraction v0.7). */
const entryPointSalt: Hex = "0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3"

const deployGas = 25_000_000n
const operatorEther = parseEther("1000000")
/** Backs every WETH that a world will ever issue. */
const treasuryEther = parseEther("1000000000000")

/** Lets the operator act on this chain; anvil forgets it between runs. */
export const admitOperator = (client: ChainClient): Effect.Effect<void, SandboxFailure> =>
  ask(client, "admit the operator", async () => {
    await client.impersonateAccount({ address: operator })
    await client.setBalance({ address: operator, value: operatorEther })
  })

const ask = <A>(client: ChainClient, what: string, run: () => Promise<A>): Effect.Effect<A, SandboxFailure> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new SandboxFailure({ message: `Chain ${client.chain.id} refused to ${what}`, cause })
  })

/** What a chain is filled with. */
export interface Installation {
  readonly client: ChainClient
  readonly contracts: Contracts
  readonly chain: CatalogChain
}

const deploy = (client: ChainClient, what: string, bytecode: Hex) =>
  deploySalted(client, what, { bytecode, salt: noSalt })

const deploySalted = (
  client: ChainClient,
  what: string,
  { bytecode, salt }: { readonly bytecode: Hex; readonly salt: Hex }
) =>
  operate(client, { what: `deploy ${what}`, to: create2Deployer, data: concat([salt, bytecode]), gas: deployGas }).pipe(
    Effect.as(getCreate2Address({ from: create2Deployer, salt, bytecode }))
  )

/**
 * Puts at an address what a contract's constructor makes of it there: keeps its immutables, not its storage. Nothing is
 * deployed, so a build may be larger than a contract may be (EIP-170), as that of Kernel is which is published.
 */
const placeAt = (
  client: ChainClient,
  what: string,
  { address, bytecode }: { readonly bytecode: Hex; readonly address: Address }
) =>
  ask(client, `place ${what}`, async () => {
    await client.setCode({ address, bytecode })
    const { data } = await client.call({ to: address })
    if (data === undefined) throw new Error(`the constructor of ${what} makes no code`)
    await client.setCode({ address, bytecode: data })
  })

const installCanonical = Effect.fnUntraced(function* (client: ChainClient, contracts: Contracts) {
  const entryPoint = yield* deploySalted(client, "EntryPoint 0.7", {
    bytecode: contracts.entryPoint.creation,
    salt: entryPointSalt
  })
  if (entryPoint !== canonical.entryPoint) {
    return yield* new SandboxFailure({
      message: `EntryPoint was deployed at ${entryPoint} instead of ${canonical.entryPoint}: @account-abstraction/contracts is not version 0.7.0. Run npm install`
    })
  }
  yield* placeAt(client, "Kernel 0.3.1", { bytecode: contracts.kernel, address: canonical.kernel })
  yield* placeAt(client, "the Kernel factory", { bytecode: contracts.kernelFactory, address: canonical.kernelFactory })
  yield* placeAt(client, "Multicall3", { bytecode: contracts.multicall3, address: canonical.multicall3 })
  const modules = [
    [canonical.metaFactory, "MetaFactory"],
    [canonical.ownerValidator, "MultiChainOwnerValidator"],
    [canonical.agentSigner, "AgentSigner"],
    [canonical.callPolicy, "CallPolicy"]
  ] as const
  yield* ask(client, "place the account modules", () =>
    Promise.all(modules.map(([address, name]) => client.setCode({ address, bytecode: contracts.own(name).runtime })))
  )
})

/** What rollups answer about the data of transactions: GasPriceOracle of the OP stack, NodeInterface of Arbitrum. */
const rollupContracts = new Map<number, readonly [address: Address, name: string]>([
  [8453, ["0x420000000000000000000000000000000000000F", "GasPriceOracle"]],
  [42161, ["0x00000000000000000000000000000000000000C8", "NodeInterface"]],
  [4663, ["0x00000000000000000000000000000000000000C8", "NodeInterface"]]
])

const installRollup = Effect.fnUntraced(function* ({ chain, client, contracts }: Installation) {
  const known = rollupContracts.get(chain.chainId)
  if (known === undefined) return
  const [address, name] = known
  yield* ask(client, `place ${name}`, () => client.setCode({ address, bytecode: contracts.own(name).runtime }))
})

/** Solidity's layout of a string of at most 31 bytes: the text, then twice its length in the last byte. */
const shortString = (text: string): Hex =>
  concat([stringToHex(text, { size: 31 }), toHex(2 * new TextEncoder().encode(text).length, { size: 1 })])

/** WETH9 keeps name, symbol and decimals in its first three slots, which a constructor would have filled. */
const installWeth = Effect.fnUntraced(function* (client: ChainClient, contracts: Contracts, token: Token) {
  yield* placeAt(client, "WETH", { bytecode: contracts.weth.creation, address: token.address })
  const slots = [shortString(token.name), shortString(token.symbol), toHex(token.decimals, { size: 32 })]
  yield* ask(client, "name WETH", () =>
    Promise.all(slots.map((value, index) => client.setStorageAt({ address: token.address, index, value })))
  )
})

const installTokens = Effect.fnUntraced(function* ({ chain, client, contracts }: Installation, issuer: Address) {
  const { abi, runtime } = contracts.own("SandboxToken")
  for (const token of chain.tokens.filter((token) => token !== chain.weth)) {
    yield* ask(client, `place ${token.symbol}`, () => client.setCode({ address: token.address, bytecode: runtime }))
    yield* operate(client, {
      what: `name ${token.symbol}`,
      to: token.address,
      data: encodeFunctionData({
        abi,
        functionName: "initialize",
        args: [token.name, token.symbol, token.decimals, issuer]
      }),
      gas: 1_000_000n
    })
  }
})

const foundPools = Effect.fnUntraced(function* (
  { chain, client, contracts }: Installation,
  at: ChainContracts,
  prices: PriceBook
) {
  const { abi } = contracts.own("Treasury")
  for (const { token, quote } of poolsOf(chain)) {
    const amount = (side: Token) => sideAmount(side, prices.price(side.assetId))
    yield* operate(client, {
      what: `found the pool ${token.symbol}/${quote.symbol}`,
      to: at.treasury,
      data: encodeFunctionData({
        abi,
        functionName: "found",
        args: [at.factory, token.address, amount(token), quote.address, amount(quote)]
      }),
      gas: 10_000_000n
    })
  }
})

/** What the bridge and the routes' pools can pay out before anything was sold to them: whole tokens of each kind. */
const stock = 1_000_000_000n

const stockUp = Effect.fnUntraced(function* (
  { client, contracts }: Installation,
  treasury: Address,
  { holder, tokens }: { readonly holder: Address; readonly tokens: ReadonlyArray<Token> }
) {
  const { abi } = contracts.own("Treasury")
  for (const token of tokens) {
    yield* operate(client, {
      what: `give ${holder} its stock of ${token.symbol}`,
      to: treasury,
      data: encodeFunctionData({
        abi,
        functionName: "issue",
        args: [token.address, holder, stock * 10n ** BigInt(token.decimals)]
      }),
      gas: 1_000_000n
    })
  }
})

/** Contracts, tokens and feeds of others. */
const placeOthers = Effect.fnUntraced(function* (installation: Installation, at: ChainContracts, prices: PriceBook) {
  const { chain, client, contracts } = installation
  const codes = initCodes(contracts, chain)
  yield* admitOperator(client)
  yield* installCanonical(client, contracts)
  yield* installRollup(installation)
  yield* installWeth(client, contracts, chain.weth)
  yield* deploy(client, "the Uniswap v2 factory", codes.factory)
  yield* deploy(client, "the Uniswap v2 router", codes.router)
  yield* deploy(client, "the treasury", codes.treasury)
  yield* deploy(client, "the bridge's pool", codes.bridge)
  yield* deploy(client, "the stand-in of LI.FI's diamond", codes.diamond)
  yield* deploy(client, "the pools of routes", codes.routePools)
  yield* deploy(client, "the stand-in of an issuer's contract", codes.issuerManager)
  yield* ask(client, "fund the treasury", () => client.setBalance({ address: at.treasury, value: treasuryEther }))
  yield* installTokens(installation, at.treasury)
  const priceOf = (token: Token) => prices.price(token.assetId)
  yield* installFeeds(client, contracts.own("SandboxFeed"), { chain, priceOf })
})

/** Pools at the book's prices, and what stand-ins pay out. */
const stockOthers = Effect.fnUntraced(function* (installation: Installation, at: ChainContracts, prices: PriceBook) {
  const { chain, client } = installation
  yield* foundPools(installation, at, prices)
  yield* stockUp(installation, at.treasury, { holder: at.bridge, tokens: [chain.usdc, chain.weth] })
  yield* stockUp(installation, at.treasury, { holder: at.routePools, tokens: chain.tokens })
  yield* stockUp(installation, at.treasury, {
    holder: at.issuerManager,
    tokens: [chain.usdc, ...chain.tokens.filter(({ isAttested }) => isAttested)]
  })
  yield* setRoutePools({ client, contracts: at }, chain.tokens, ({ assetId }) => prices.price(assetId))
})

/** Puts on an empty chain what a real one has before anybody deploys Ballast there. */
export const furnishChain = Effect.fn("furnishChain")(function* (installation: Installation, prices: PriceBook) {
  const at = contractAddresses(installation.contracts, installation.chain)
  yield* placeOthers(installation, at, prices)
  yield* stockOthers(installation, at, prices)
  return at
})

const deployBallast = Effect.fnUntraced(
  function* ({ chain, client, contracts }: Installation, at: ChainContracts, { attestor, prices }: GuardedPrices) {
    const file = yield* chainFile({ at, chain, client, priceOf: ({ assetId }) => prices.price(assetId) })
    const plan = yield* planDeployment({ file, keys: guardKeys(attestor), compiled: contracts.own, client })
    yield* requireReady(plan, "sandbox/chain/chainFile.ts")
    const send = ({ data, to, words }: (typeof plan.steps)[number]) =>
      operate(client, { what: words, to, data, gas: deployGas }).pipe(
        Effect.mapError(({ message }) => new DeploymentRefused({ reasons: [message] }))
      )
    yield* applyDeployment(plan, { address: operator, send }, () => Effect.void)
    const left = stepsOfOthers(plan, operator).map(({ words }) => words)
    return left.length === 0 ? file : yield* new DeploymentRefused({ reasons: left })
  },
  (effect, { chain }) =>
    Effect.mapError(
      effect,
      (cause) =>
        new SandboxFailure({
          message: `Ballast's contracts were not deployed on chain ${chain.chainId}: ${cause.message}`,
          cause
        })
    )
)

/** What the guard's prices come from: the attestor's signed price where there is no feed, and where each begins. */
interface GuardedPrices {
  readonly prices: PriceBook
  readonly attestor: Address
}

/** Installs everything; the guard takes the attestor's signed price. The operator's transactions take turns. */
export const installChain = Effect.fn("installChain")(function* (installation: Installation, guarded: GuardedPrices) {
  const at = contractAddresses(installation.contracts, installation.chain)
  yield* placeOthers(installation, at, guarded.prices)
  const [file] = yield* Effect.all(
    [deployBallast(installation, at, guarded), stockOthers(installation, at, guarded.prices)],
    { concurrency: "unbounded" }
  )
  return { at, file }
})
