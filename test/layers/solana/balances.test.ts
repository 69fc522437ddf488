/** Balances by the family of the account's chain. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted, Result } from "effect"
import { Keypair } from "@solana/web3.js"
import {
  ChainId,
  evmAccount,
  EvmAddress,
  SolanaAccountId,
  SolanaAddress,
  solanaChainId,
  solanaReference,
  spl
} from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { maxUnlisted, UnlistedHoldings } from "#domain/portfolio/UnlistedHoldings.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { localAgent } from "#layers/solana/lifecycle/Agent.ts"
import { SolanaFunds } from "#layers/solana/SolanaFunds.ts"
import { SolanaBalances } from "#layers/solana/SolanaBalances.ts"
import { SolanaClients } from "#layers/solana/SolanaLive.ts"
import { SolanaUnlisted } from "#layers/solana/SolanaUnlisted.ts"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { fundedKey, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
  installMints(chain.ledger)
})
afterAll(() => chain.close())

const evm = evmAccount(ChainId.make(8453), EvmAddress.make("0x52908400098527886E0F7030069857D2E4169EE7"))
const ofOthers = { blockNumber: 8453n, blockTime: DateTime.makeUnsafe(0), balances: [] }

/** What is asked of the other families is answered by a number that says so. */
const others = Layer.succeed(Balances, {
  read: () => Effect.succeed(ofOthers),
  readMany: () => Effect.succeed([Result.succeed(ofOthers)])
})

const seed = new Uint8Array(32)
const funds = { relayer: EvmAddress.make("0x52908400098527886E0F7030069857D2E4169EE7"), balance: 1n, isLow: false }

const configuration = (isConfigured: boolean) =>
  Layer.sync(SolanaConfig, () =>
    isConfigured
      ? {
          rpcUrls: [Redacted.make(chain.url)] as const,
          agentSeed: Redacted.make(seed),
          fees: { percentile: 75, maxPriorityLamports: 0n },
          jupiter: { baseUrl: chain.url, apiKey: null, requestsPerSecond: 1_000 }
        }
      : null
  )

const serving = (isConfigured: boolean) =>
  SolanaBalances.pipe(Layer.provide(others), Layer.provide(SolanaClients), Layer.provide(configuration(isConfigured)))

const share = splCatalog.find(({ symbol }) => symbol === "AAPLx")!

const payers = (isConfigured: boolean) =>
  SolanaFunds.pipe(
    Layer.provide(
      Layer.succeed(
        RelayerFunds,
        RelayerFunds.of({ chains: [ChainId.make(8453)], read: (chainId) => Effect.succeed([{ ...funds, chainId }]) })
      )
    ),
    Layer.provide(SolanaClients),
    Layer.provide(configuration(isConfigured))
  )

describe("what pays for transactions", () => {
  it.effect("is on Solana the agent, in 18 decimals, and low below a tenth of SOL", () =>
    Effect.gen(function* () {
      const { chains, read } = yield* RelayerFunds
      assert.deepStrictEqual(chains as ReadonlyArray<number>, [8453, solanaChainId])
      const agent = localAgent(Redacted.make(seed)).key
      const solana = solanaChainId
      const shown = { chainId: solana, relayer: SolanaAddress.make(agent.toBase58()) }
      assert.deepStrictEqual(yield* read(solana), [{ ...shown, balance: 0n, isLow: true }])
      chain.ledger.airdrop(agent, 99_999_999n)
      assert.deepStrictEqual(yield* read(solana), [{ ...shown, balance: 99_999_999n * 10n ** 9n, isLow: true }])
      chain.ledger.airdrop(agent, 1n)
      assert.deepStrictEqual(yield* read(solana), [{ ...shown, balance: 10n ** 17n, isLow: false }])
      assert.deepStrictEqual(yield* read(ChainId.make(8453)), [{ ...funds, chainId: ChainId.make(8453) }])
    }).pipe(Effect.provide(payers(true)))
  )

  it.effect("is that of the other chains alone in a deployment without Solana", () =>
    Effect.map(RelayerFunds, ({ chains }) => assert.deepStrictEqual(chains, [8453 as ChainId])).pipe(
      Effect.provide(payers(false))
    )
  )
})

describe("tokens that the catalogue does not have", () => {
  const unlisted = SolanaUnlisted.pipe(Layer.provide(SolanaClients))

  it.effect("are listed with the decimals of their mints and the symbols that issuers wrote, listed ones are not", () =>
    Effect.gen(function* () {
      const owner = fundedKey(chain).publicKey
      for (const token of [usdc, share]) issue(chain.ledger, owner, { token, amountRaw: 5n })
      const account = SolanaAccountId.make(`solana:${solanaReference}:${owner.toBase58()}`)
      const listed = new Set(splCatalog.filter((token) => token !== share).map(({ assetId }) => assetId))
      const found = yield* (yield* UnlistedHoldings).of(account, listed)
      assert.deepStrictEqual(found, [
        { assetId: share.assetId, raw: 5n, decimals: share.decimals, symbol: share.mint.toBase58() }
      ])
      const { publicKey: mint } = Keypair.generate()
      installMints(chain.ledger, [{ ...share, mint, assetId: spl(mint.toBase58()) }])
      assert.isEmpty(yield* (yield* UnlistedHoldings).of(account, new Set([...listed, share.assetId])))
    }).pipe(Effect.provide(unlisted), Effect.provide(configuration(true)))
  )

  it.effect(`are ${maxUnlisted} at most, whatever somebody sends`, () =>
    Effect.gen(function* () {
      const owner = fundedKey(chain).publicKey
      const tokens = Array.from({ length: maxUnlisted + 2 }, () => {
        const { publicKey: mint } = Keypair.generate()
        return { ...usdc, mint, assetId: spl(mint.toBase58()) }
      })
      installMints(chain.ledger, tokens)
      for (const token of tokens) issue(chain.ledger, owner, { token, amountRaw: 1n })
      const account = SolanaAccountId.make(`solana:${solanaReference}:${owner.toBase58()}`)
      const found = yield* (yield* UnlistedHoldings).of(account, new Set())
      assert.lengthOf(found, maxUnlisted)
    }).pipe(Effect.provide(unlisted), Effect.provide(configuration(true)))
  )

  it.effect("of accounts on EVM chains are not known", () =>
    Effect.gen(function* () {
      assert.isEmpty(yield* (yield* UnlistedHoldings).of(evm, new Set()))
    }).pipe(Effect.provide(unlisted), Effect.provide(configuration(true)))
  )
})

describe("balances of all families", () => {
  it.effect(
    "an account on Solana shows both token programs in raw units, lamports above rent as SOL, and zero of what it does not hold",
    () =>
      Effect.gen(function* () {
        const owner = fundedKey(chain, sol).publicKey
        issue(chain.ledger, owner, { token: usdc, amountRaw: 5n })
        issue(chain.ledger, owner, { token: share, amountRaw: 7n })
        const account = SolanaAccountId.make(`solana:${solanaReference}:${owner.toBase58()}`)
        const wanted = splCatalog.map(({ assetId }) => assetId)
        const held = new Map<string, bigint>([
          [usdc.assetId, 5n],
          [share.assetId, 7n],
          [splCatalog.find(({ symbol }) => symbol === "SOL")!.assetId, sol - chain.ledger.rentOf(0)]
        ])
        const balances = yield* Balances
        const { blockNumber, balances: read } = yield* balances.read(account, wanted)
        assert.strictEqual(blockNumber, chain.ledger.slot)
        assert.deepStrictEqual(
          read,
          wanted.map((assetId) => ({ assetId, raw: held.get(assetId) ?? 0n }))
        )
        const many = yield* balances.readMany(solanaChainId, [{ account, assetIds: [usdc.assetId] }])
        assert.deepStrictEqual(
          many.map((one) => Result.getOrThrow(one).balances),
          [[{ assetId: usdc.assetId, raw: 5n }]]
        )
      }).pipe(Effect.provide(serving(true)))
  )

  it.effect("an account of another family is asked of the port beneath", () =>
    Effect.gen(function* () {
      const balances = yield* Balances
      assert.deepStrictEqual(yield* balances.read(evm, []), ofOthers)
      assert.lengthOf(yield* balances.readMany(ChainId.make(8453), [{ account: evm, assetIds: [] }]), 1)
    }).pipe(Effect.provide(serving(true)))
  )

  it.effect("without Solana in the configuration its accounts are unavailable, and others are read", () =>
    Effect.gen(function* () {
      const balances = yield* Balances
      const account = SolanaAccountId.make(`solana:${solanaReference}:${usdc.mint.toBase58()}`)
      const failure = yield* Effect.flip(balances.read(account, [usdc.assetId]))
      assert.strictEqual(failure._tag, "ChainUnavailable")
      assert.deepStrictEqual(yield* balances.read(evm, []), ofOthers)
    }).pipe(Effect.provide(serving(false)))
  )
})
