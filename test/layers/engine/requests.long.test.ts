/** What a burst of portfolios asks of a real chain's endpoint, counted at the endpoint. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type Address, bytesToHex, type Hex, keccak256, parseEther, toHex } from "viem"
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { type ChainId, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { Prices } from "#domain/market/Prices.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { NoIssuer } from "#bench/engine/noIssuer.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { EngineLive } from "#layers/engine/EngineLive.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { type Chain, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { mint } from "#sandbox/chain/Faucet.ts"
import { countingProxy } from "#test/layers/evm/countingProxy.ts"
import { TestStores } from "#test/support/database.ts"
import { storedPortfolio } from "#test/support/enrolledPortfolio.ts"
import { TestSettings } from "#test/support/settings.ts"
import { addressOf } from "#layers/evm/address.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"

const portfolios = 40
const relayerKey = keccak256(toHex("ballast test relayer of a burst"))
const symbols = ["USDC", "WETH"]

const evm = (chain: Chain, rpcUrls: readonly [string, ...ReadonlyArray<string>]) =>
  EvmLive.pipe(
    Layer.provide(NoAttestor),
    Layer.provide(
      Layer.succeed(EvmConfig, {
        chains: [
          {
            chainId: chain.chainId as ChainId,
            rpcUrls,
            router: chain.contracts.router as string as EvmAddress,
            guard: chain.contracts.guard as string as EvmAddress,
            connectorTokens: symbols.map((symbol) => addressOf(tokenBySymbol(chain, symbol).assetId)),
            confirmations: 1,
            gasCeiling: 500_000_000_000n,
            minTip: 0n,
            lowRelayerFunds: 1n
          }
        ],
        agent: { kind: "local", key: Redacted.make(keccak256(toHex("ballast test agent of a burst")) as string) },
        relayers: [{ kind: "local", key: Redacted.make(relayerKey as string) }]
      })
    )
  )

const pricesOf = ({ prices }: Chain) =>
  Layer.succeed(Prices, {
    latest: (assetIds) =>
      Effect.map(DateTime.now, (asOf) => new Map(assetIds.map((id) => [id, { usd: prices.price(id), asOf }] as const)))
  })

const unrouted = Layer.mock(Routing, {})

const serviceOn = (chain: Chain, rpcUrls: readonly [string, ...ReadonlyArray<string>]) =>
  Scheduler.layer.pipe(
    Layer.provideMerge(EngineLive),
    Layer.provideMerge(
      Layer.mergeAll(TestStores, evm(chain, rpcUrls), FamiliesLive, pricesOf(chain), unrouted, NoIssuer, TestSettings)
    ),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )

/** A portfolio of a hundred dollars whose owner signed; half of them are to become ether. */
const enrolled = Effect.fnUntraced(function* (chain: Chain) {
  const random = yield* SecureRandom.SecureRandom
  const owner = privateKeyToAccount(bytesToHex(yield* random.randomBytes(32)))
  const chainId = chain.chainId as ChainId
  const assets = symbols.map((symbol) => {
    const { assetId, decimals, name } = tokenBySymbol(chain, symbol)
    return { assetId, chainId, symbol, name, decimals, isBlocked: false }
  })
  const authorization = yield* (yield* SmartAccounts).authorize({
    accountType: "ECDSA",
    ownerAccountId: evmWallet(owner.address as string as EvmAddress),
    accountIndex: 0n,
    withdrawalDomainName: "Ballast Withdrawal Authorization",
    chains: [{ chainId, assets: assets.map(({ assetId }) => assetId) }]
  })
  const ownerSignature = yield* Effect.promise(() => owner.signMessage({ message: { raw: authorization.root as Hex } }))
  const allocation = assets.map(({ assetId }) => ({ assetId, weight: 5_000 }))
  yield* storedPortfolio({ assets, allocation, authorization, ownerSignature })
  const account = addressOf(authorization.chains[0].accountId)
  return account as string as Address
})

const ended = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly completed: number; readonly open: number }>`
    SELECT (SELECT count(*)::int FROM operations WHERE state = 'completed') AS completed,
      (SELECT count(*)::int FROM workflow_messages WHERE finished_at IS NULL)
      + (SELECT count(*)::int FROM operations WHERE finished_at IS NULL) AS open`
  return row!
})

/** All are due at once; ends when nothing is open. Answers how many runs are completed by then. */
const burst = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE schedules SET due_at = timestamptz '2020-01-01T00:00:00Z'`
  const scheduler = yield* Scheduler
  for (let launched = 0; launched < portfolios;) {
    launched += yield* scheduler.tick
    yield* Effect.sleep("20 millis")
  }
  while ((yield* ended).open > 0) yield* Effect.sleep("20 millis")
  return (yield* ended).completed
})

describe("A burst of portfolios", () => {
  it.live("asks an endpoint at most 3 times a portfolio, its first operation and later ones", () =>
    Effect.gen(function* () {
      const chain = yield* startChain({ chainId: 8453 })
      yield* setEther(chain, privateKeyToAddress(relayerKey), parseEther("1000"))
      const proxies = [yield* countingProxy(chain.rpcUrl), yield* countingProxy(chain.rpcUrl)] as const
      const [only, second] = proxies
      const rounds = (urls: readonly [string, ...ReadonlyArray<string>]) =>
        Effect.gen(function* () {
          const accounts = yield* Effect.forEach(Array.from({ length: portfolios }), () => enrolled(chain))
          const asked: Array<ReadonlyArray<number>> = []
          for (const round of [1, 2]) {
            for (const account of accounts)
              yield* mint(chain, account, { token: tokenBySymbol(chain, "USDC"), amountRaw: 100_000_000n })
            const before = proxies.map(({ requests }) => requests.length)
            assert.strictEqual(yield* burst, round * portfolios)
            asked.push(proxies.map(({ requests }, index) => requests.length - before[index]!))
          }
          return asked
        }).pipe(Effect.provide(Layer.fresh(serviceOn(chain, urls))))
      for (const [asked] of yield* rounds([only.url])) assert.isAtMost(asked!, 3 * portfolios)
      // With a quorum each endpoint is asked what all must agree on, and the first one the rest.
      for (const asked of yield* rounds([only.url, second.url]))
        for (const each of asked) assert.isAtMost(each, 3 * portfolios)
      assert.isFalse(
        proxies.some(({ requests }) => requests.some((method) => method.includes("+"))),
        "no request is a batch of several"
      )
    }).pipe(Effect.scoped)
  )
})
