/**
 * The agent may swap over a provider's routes, and whoever holds its key may too: into listed tokens, back into the
 * account, and for no less than the venue pays. Everything else is refused by the policy, or by the contract that
 * carries it out.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex, zeroAddress } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { type ReadySwap } from "#domain/trading/Swap.ts"
import { routedSwapAbi } from "#layers/evm/contracts.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { quoteRoutePools, setRoutePools } from "#sandbox/chain/routePools.ts"
import { addressOf, honestRoute, inPools, routeOver, type Terms, termsOf } from "#test/solidity/routedSwaps.ts"
import { agentAccount, enableDigestOf } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import {
  asset,
  batchOf,
  configFor,
  enroll,
  type Enrollment,
  EvmWorld,
  execute,
  fund,
  quotedSwap,
  RoutedWorldLive,
  stranger,
  adapterFor
} from "#test/layers/evm/EvmWorld.ts"
import { balance, deltasOf, dollars } from "#test/layers/evm/tradingAccount.ts"

const amount = dollars(100n)

/** The adapter of a deployment that has not configured routes. */
const withoutRoutes = Layer.unwrap(
  Effect.map(EvmWorld, ({ arbitrum, base }) => adapterFor(configFor([base, arbitrum])))
)

class Victim extends Context.Service<
  Victim,
  { readonly chain: Chain; readonly enrollment: Enrollment; readonly account: Address }
>()("ballast/test/RouteVictim") {
  static readonly layer = Layer.effect(
    Victim,
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const enrollment = yield* enroll(320n, [[base, "USDC", "WETH", "AERO"]])
      yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(10_000n) })
      yield* execute(
        batchOf(enrollment, base, [
          yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(100n) })
        ])
      )
      return Victim.of({ chain: base, enrollment, account: enrollment.account as string as Address })
    })
  )
}

/** A swap over an honest route, as the service would make it. */
const routedSwap = Effect.fnUntraced(function* (
  chain: Chain,
  { buy, path, sell }: { readonly sell: string; readonly buy: string; readonly path: ReadonlyArray<string> }
) {
  const [from, to] = [tokenBySymbol(chain, sell), tokenBySymbol(chain, buy)]
  const expected = yield* quoteRoutePools(chain, { sell: from, buy: to, amount })
  return {
    sell: asset(chain, sell),
    buy: asset(chain, buy),
    sellAmountRaw: amount,
    minBuyAmountRaw: expected,
    execution: {
      _tag: "Evm" as const,
      path: path.map((symbol) => addressOf(chain, symbol) as string as EvmAddress),
      call: {
        contract: chain.contracts.routedSwap as string as EvmAddress,
        data: honestRoute(chain, termsOf(chain, { sell, amount, buy }))
      }
    },
    tool: "pools"
  } satisfies ReadySwap
})

const approve = (chain: Chain, spender: Address): Call => ({
  to: addressOf(chain, "USDC"),
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] })
})

const routed = (
  chain: Chain,
  buy: string,
  { but = {}, route }: { readonly but?: Partial<Terms> | undefined; readonly route?: Hex | undefined } = {}
): ReadonlyArray<Call> => {
  const terms = termsOf(chain, { sell: "USDC", amount, buy }, but)
  const data = encodeFunctionData({
    abi: routedSwapAbi,
    functionName: "swap",
    args: [terms, route ?? honestRoute(chain, terms)]
  })
  return [approve(chain, chain.contracts.routedSwap), { to: chain.contracts.routedSwap, data }]
}

/** What becomes of an operation of the thief, which he submits himself. */
const attempt = Effect.fnUntraced(function* (build: (victim: Victim["Service"]) => ReadonlyArray<Call>) {
  const victim = yield* Victim
  const { chain, enrollment } = victim
  return yield* Effect.promise(async () => {
    const account = await agentAccount(chain, enrollment)
    return outcomeOf(await submitAlone(chain, account, await account.encodeCalls(build(victim))))
  })
})

const holdings = Effect.gen(function* () {
  const { account, chain } = yield* Victim
  return yield* Effect.forEach(["USDC", "WETH", "AERO", "cbBTC"], (symbol) =>
    balance(chain, symbol, account as string as EvmAddress)
  )
})

const refusedByPolicy: ReadonlyArray<readonly [name: string, build: (chain: Chain) => ReadonlyArray<Call>]> = [
  ["buys a token that is not listed", (chain) => routed(chain, "cbBTC")],
  [
    "prices the swap over a hub that is not listed",
    (chain) => routed(chain, "WETH", { but: { hub: addressOf(chain, "AERO") } })
  ],
  [
    "sends the route to a contract of his own",
    (chain) => routed(chain, "WETH").map((call, index) => (index === 0 ? call : { ...call, to: stranger.address }))
  ],
  [
    "calls the diamond itself",
    (chain) => [
      approve(chain, chain.contracts.routedSwap),
      {
        to: chain.contracts.diamond,
        data: routeOver(chain, inPools(chain, termsOf(chain, { sell: "USDC", amount, buy: "WETH" })), stranger.address)
      }
    ]
  ],
  ["lets the diamond spend", (chain) => [approve(chain, chain.contracts.diamond)]],
  ["sends ether along", (chain) => routed(chain, "WETH").map((call, index) => ({ ...call, value: BigInt(index) }))]
]

/** A route whose one call hands what it was given to the thief. */
const givenAway = (chain: Chain) => {
  const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
  const args = [stranger.address, amount] as const
  const callData = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args })
  return routeOver(chain, inPools(chain, terms, { callTo: terms.sell, callData }))
}

const refusedByContract: ReadonlyArray<readonly [name: string, route: (chain: Chain, terms: Terms) => Hex]> = [
  ["pays himself over the route", (chain, terms) => routeOver(chain, inPools(chain, terms), stranger.address)],
  ["gives the amount away within the route", givenAway],
  [
    "sells a part and keeps the rest",
    (chain, terms) => {
      const args = [stranger.address, amount / 10n] as const
      const callData = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args })
      const kept = { fromAmount: amount / 10n, callTo: terms.sell, receivingAssetId: terms.sell, callData }
      return routeOver(chain, [
        inPools(chain, terms, kept),
        inPools(chain, terms, { fromAmount: amount - amount / 10n })
      ])
    }
  ],
  [
    "enters the contract again within the route",
    (chain, terms) =>
      routeOver(
        chain,
        inPools(chain, terms, {
          callTo: chain.contracts.routedSwap,
          callData: encodeFunctionData({
            abi: routedSwapAbi,
            functionName: "swap",
            args: [{ ...terms, amount: 0n }, honestRoute(chain, terms)]
          })
        })
      )
  ],
  ["calls nothing", () => "0x"]
]

describe("Routes and a stolen agent key", () => {
  layer(Layer.provideMerge(Victim.layer, RoutedWorldLive), { excludeTestServices: true })((it) => {
    it.effect("a batch swaps over a route and on the venue in one operation", () =>
      Effect.gen(function* () {
        const { chain, enrollment } = yield* Victim
        const over = yield* routedSwap(chain, { sell: "USDC", buy: "WETH", path: ["USDC", "WETH"] })
        const direct = yield* quotedSwap(chain, { sell: "USDC", buy: "AERO", sellAmountRaw: amount })
        const { receipt } = yield* execute(batchOf(enrollment, chain, [over, direct]))
        assert.isTrue(receipt.success)
        const deltas = deltasOf(receipt)
        assert.strictEqual(deltas.get(over.buy), over.minBuyAmountRaw)
        assert.strictEqual(deltas.get(direct.buy), direct.minBuyAmountRaw)
        assert.strictEqual(deltas.get(over.sell), -2n * amount)
      })
    )

    it.effect("is also the first operation of an account on a chain, held against a path of two hops", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(321n, [[base, "USDC", "WETH", "AERO"]])
        const digest = yield* Effect.promise(() => enableDigestOf(base, enrollment))
        assert.strictEqual(digest, enrollment.authorization.chains[0].digest)
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
        const swap = yield* routedSwap(base, { sell: "USDC", buy: "AERO", path: ["USDC", "WETH", "AERO"] })
        assert.isTrue((yield* execute(batchOf(enrollment, base, [swap]))).receipt.success)
      })
    )

    it.effect("refuses to prepare a route that yields less than its minimum, or another contract", () =>
      Effect.gen(function* () {
        const { chain, enrollment } = yield* Victim
        const execution = yield* SwapBatches
        const honest = yield* routedSwap(chain, { sell: "USDC", buy: "WETH", path: ["USDC", "WETH"] })
        const { call, path } = honest.execution
        const over = (changed: Partial<typeof call>) => ({
          ...honest,
          execution: { ...honest.execution, call: { ...call, ...changed } }
        })
        const lies: ReadonlyArray<readonly [ReadySwap, string]> = [
          [{ ...honest, minBuyAmountRaw: honest.minBuyAmountRaw + 1n }, "TooLittle"],
          [over({ data: givenAway(chain) }), "TooLittle"],
          [over({ contract: path[0]! }), "the owner allowed"]
        ]
        for (const [lie, reason] of lies) {
          const refused = yield* Effect.flip(execution.prepare(batchOf(enrollment, chain, [lie])))
          assert.strictEqual(refused._tag, "SimulationFailed")
          assert.include(refused.message, reason)
        }
      })
    )

    it.effect("a grant without routes has none", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(322n, [[base, "USDC", "WETH"]]).pipe(Effect.provide(withoutRoutes))
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
        const swap = yield* routedSwap(base, { sell: "USDC", buy: "WETH", path: ["USDC", "WETH"] })
        const execution = yield* SwapBatches
        const refused = yield* Effect.flip(execution.prepare(batchOf(enrollment, base, [swap])))
        assert.include(refused.message, "the owner allowed no contract for routed swaps")
      })
    )

    it.effect("still swaps over an honest route, so that the refusals below mean something", () =>
      Effect.gen(function* () {
        const before = yield* holdings
        assert.strictEqual(yield* attempt(({ chain }) => routed(chain, "WETH")), "included")
        const hub = ({ chain }: Victim["Service"]) => routed(chain, "AERO", { but: { hub: addressOf(chain, "WETH") } })
        assert.strictEqual(yield* attempt(hub), "included")
        assert.notDeepEqual(yield* holdings, before)
      })
    )

    for (const [name, build] of refusedByPolicy) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const before = yield* holdings
          assert.match(yield* attempt(({ chain }) => build(chain)), /^AA23/u)
          assert.deepStrictEqual(yield* holdings, before)
        })
      )
    }

    for (const [name, route] of refusedByContract) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const before = yield* holdings
          const build = ({ chain }: Victim["Service"]) =>
            routed(chain, "WETH", {
              but: {},
              route: route(chain, termsOf(chain, { sell: "USDC", amount, buy: "WETH" }))
            })
          assert.strictEqual(yield* attempt(build), "reverted")
          assert.deepStrictEqual(yield* holdings, before)
        })
      )
    }

    it.effect("accepts a bad price of a route, which the venue's price forbids", () =>
      Effect.gen(function* () {
        const { chain } = yield* Victim
        const weth = tokenBySymbol(chain, "WETH")
        const priced = (percent: bigint) =>
          setRoutePools(chain, [weth], () => (chain.prices.price(weth.assetId) * 100n) / percent)
        yield* priced(99n)
        const before = yield* holdings
        assert.strictEqual(
          yield* attempt(({ chain }) => routed(chain, "WETH", { but: { hub: zeroAddress } })),
          "reverted"
        )
        assert.deepStrictEqual(yield* holdings, before)
        yield* priced(100n)
      })
    )
  })
})
