/** A routed swap yields at least what the venue pays at that moment, to its caller, or it does not happen. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  parseEther,
  parseEventLogs,
  zeroAddress,
  zeroHash
} from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { routedSwapAbi, routerAbi } from "#layers/evm/contracts.ts"
import { type Chain, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { mint } from "#sandbox/chain/Faucet.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { quoteRoutePools, routePoolsAbi, setRoutePools } from "#sandbox/chain/routePools.ts"
import {
  addressOf,
  deployOddToken,
  held,
  honestRoute,
  inPools,
  mintOdd,
  never,
  routeOver,
  swap,
  termsOf,
  transact,
  verdict
} from "#test/solidity/routedSwaps.ts"

const account = privateKeyToAccount(`0x${"a1".repeat(32)}`)
const thief = privateKeyToAccount(`0x${"b2".repeat(32)}`)
const amount = 1_000_000_000n

class Base extends Context.Service<Base, Chain>()("ballast/test/RoutedSwapChain") {
  static readonly layer = Layer.effect(
    Base,
    Effect.gen(function* () {
      const chain = yield* startChain({ chainId: 8453 })
      yield* setEther(chain, account.address, parseEther("100"))
      yield* setEther(chain, thief.address, parseEther("100"))
      yield* mint(chain, account.address, { token: tokenBySymbol(chain, "USDC"), amountRaw: 1_000_000_000_000n })
      return chain
    })
  )
}

/** Makes routes to a token pay more or less than its market by a percentage. */
const skewed = (chain: Chain, symbol: string, percent: bigint) =>
  setRoutePools(chain, [tokenBySymbol(chain, symbol)], ({ assetId }) => (chain.prices.price(assetId) * 100n) / percent)

const venuePays = (chain: Chain, path: ReadonlyArray<Address>) =>
  Effect.promise(() =>
    chain.client
      .readContract({
        address: chain.contracts.router,
        abi: parseAbi(["function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[] amounts)"]),
        functionName: "getAmountsOut",
        args: [amount, path]
      })
      .then((amounts) => amounts.at(-1)!)
  )

/** Nothing of the token is here, and nobody may take any. */
const assertEmpty = Effect.fnUntraced(function* (chain: Chain, ...tokens: ReadonlyArray<Address>) {
  const { diamond, routedSwap } = chain.contracts
  for (const token of tokens) {
    assert.strictEqual(yield* held(chain, token, routedSwap), 0n)
    const allowance = yield* Effect.promise(() =>
      chain.client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: "allowance",
        args: [routedSwap, diamond]
      })
    )
    assert.strictEqual(allowance, 0n)
  }
})

describe("RoutedSwap", () => {
  layer(Base.layer, { excludeTestServices: true })((it) => {
    it.effect("gives the caller what the route yields, and keeps nothing", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const [usdc, weth] = [tokenBySymbol(chain, "USDC"), tokenBySymbol(chain, "WETH")]
        const expected = yield* quoteRoutePools(chain, { sell: usdc, buy: weth, amount })
        assert.isAbove(Number(expected), Number(yield* venuePays(chain, [usdc.address, weth.address])))
        const before = yield* held(chain, weth.address, account.address)
        const receipt = yield* swap(chain, account, { terms, route: honestRoute(chain, terms) })
        assert.strictEqual(receipt.status, "success")
        assert.strictEqual((yield* held(chain, weth.address, account.address)) - before, expected)
        const [event] = parseEventLogs({ abi: routedSwapAbi, eventName: "Swapped", logs: receipt.logs })
        assert.deepStrictEqual(event?.args, {
          account: account.address,
          sell: terms.sell,
          buy: terms.buy,
          sold: amount,
          bought: expected
        })
        yield* assertEmpty(chain, usdc.address, weth.address)
      })
    )

    it.effect("is held against the path through a connector token when asked to", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "AERO" }, { hub: addressOf(chain, "WETH") })
        assert.strictEqual(yield* verdict(chain, account, { terms, route: honestRoute(chain, terms) }), "accepted")
        yield* skewed(chain, "AERO", 97n)
        assert.strictEqual(yield* verdict(chain, account, { terms, route: honestRoute(chain, terms) }), "TooLittle")
        yield* skewed(chain, "AERO", 100n)
      })
    )

    it.effect("gives back what a route does not sell, and then wants the venue's price of the whole", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        yield* skewed(chain, "WETH", 120n)
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const part = inPools(chain, terms, { fromAmount: (amount * 9n) / 10n })
        const before = yield* held(chain, terms.sell, account.address)
        const receipt = yield* swap(chain, account, { terms, route: routeOver(chain, part) })
        assert.strictEqual(receipt.status, "success")
        assert.strictEqual(before - (yield* held(chain, terms.sell, account.address)), (amount * 9n) / 10n)
        yield* assertEmpty(chain, terms.sell, terms.buy)
        yield* skewed(chain, "WETH", 100n)
        const honest = inPools(chain, terms, { fromAmount: (amount * 9n) / 10n })
        assert.strictEqual(yield* verdict(chain, account, { terms, route: routeOver(chain, honest) }), "TooLittle")
      })
    )

    it.effect("refuses a route that yields less than the venue pays, whatever the caller accepts", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        yield* skewed(chain, "WETH", 99n)
        assert.strictEqual(yield* verdict(chain, account, { terms, route: honestRoute(chain, terms) }), "TooLittle")
        yield* skewed(chain, "WETH", 100n)
        const venue = yield* venuePays(chain, [terms.sell, terms.buy])
        assert.strictEqual(yield* verdict(chain, account, { terms, route: honestRoute(chain, terms) }), "accepted")
        const dear = { ...terms, minOut: (venue * 102n) / 100n }
        assert.strictEqual(
          yield* verdict(chain, account, { terms: dear, route: honestRoute(chain, dear) }),
          "TooLittle"
        )
      })
    )

    it.effect("refuses a route that pays somebody else, or nobody", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const give = (token: Address) =>
          inPools(chain, terms, {
            callTo: token,
            callData: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [thief.address, amount] })
          })
        const routes = [
          routeOver(chain, inPools(chain, terms), thief.address),
          // Money that comes to the account itself is not taken for the route's: it may be the account's own.
          routeOver(chain, inPools(chain, terms), account.address),
          routeOver(chain, give(terms.sell)),
          routeOver(chain, [give(terms.sell)])
        ]
        for (const route of routes) assert.strictEqual(yield* verdict(chain, account, { terms, route }), "TooLittle")
      })
    )

    it.effect("refuses a route that enters it again", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const again = inPools(chain, terms, {
          callTo: chain.contracts.routedSwap,
          callData: encodeFunctionData({
            abi: routedSwapAbi,
            functionName: "swap",
            args: [{ ...terms, amount: 0n }, honestRoute(chain, terms)]
          })
        })
        assert.strictEqual(yield* verdict(chain, account, { terms, route: routeOver(chain, again) }), "Reentered")
      })
    )

    it.effect("is not fooled by a route that moves the venue's price within the call", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const stake = 2_000_000_000_000n
        yield* mint(chain, chain.contracts.diamond, { token: tokenBySymbol(chain, "USDC"), amountRaw: stake })
        yield* skewed(chain, "WETH", 97n)
        const push = inPools(chain, terms, {
          callTo: chain.contracts.router,
          approveTo: chain.contracts.router,
          fromAmount: stake,
          requiresDeposit: false,
          callData: encodeFunctionData({
            abi: routerAbi,
            functionName: "swapExactTokensForTokens",
            args: [stake, 0n, [terms.sell, terms.buy], thief.address, never]
          })
        })
        const pushed = routeOver(chain, [push, inPools(chain, terms)])
        assert.strictEqual(yield* verdict(chain, account, { terms, route: pushed }), "TooLittle")
        yield* skewed(chain, "WETH", 100n)
        assert.strictEqual(yield* verdict(chain, account, { terms, route: pushed }), "accepted")
      })
    )

    it.effect("refuses what has no price on the venue, is too late, or is no swap", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const late = termsOf(chain, { sell: "USDC", amount, buy: "WETH" }, { deadline: 1n })
        assert.strictEqual(yield* verdict(chain, account, { terms: late, route: honestRoute(chain, late) }), "Expired")
        const same = termsOf(chain, { sell: "USDC", amount, buy: "USDC" })
        assert.strictEqual(yield* verdict(chain, account, { terms: same, route: "0x" }), "SameToken")
        const unpaired = termsOf(chain, { sell: "AERO", amount, buy: "cbBTC" })
        assert.strictEqual(
          yield* verdict(chain, account, { terms: unpaired, route: honestRoute(chain, unpaired) }),
          "reverted"
        )
        const nothing = termsOf(chain, { sell: "USDC", amount: 0n, buy: "WETH" })
        assert.strictEqual(
          yield* verdict(chain, account, { terms: nothing, route: honestRoute(chain, nothing) }),
          "reverted"
        )
        const dust = termsOf(chain, { sell: "USDC", amount: 1n, buy: "cbBTC" })
        assert.strictEqual(
          yield* verdict(chain, account, { terms: dust, route: honestRoute(chain, dust) }),
          "NoVenuePrice"
        )
      })
    )

    it.effect("passes the route's own error on, and calls nothing but the diamond", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const steal = encodeFunctionData({
          abi: erc20Abi,
          functionName: "transferFrom",
          args: [account.address, thief.address, amount]
        })
        for (const route of ["0x", steal, zeroHash] as const) {
          assert.strictEqual(yield* verdict(chain, account, { terms, route }), "reverted")
        }
      })
    )

    it.effect("takes no native value", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const data = encodeFunctionData({
          abi: routedSwapAbi,
          functionName: "swap",
          args: [terms, honestRoute(chain, terms)]
        })
        const { routedSwap } = chain.contracts
        for (const call of [{ data, value: 1n }, { value: 1n }]) {
          const answer = yield* Effect.promise(() =>
            chain.client.call({ account: account.address, to: routedSwap, ...call }).then(
              () => "taken",
              () => "refused"
            )
          )
          assert.strictEqual(answer, "refused")
        }
      })
    )

    it.effect("never touches tokens of somebody who approved it and did not call", () =>
      Effect.gen(function* () {
        const chain = yield* Base
        const terms = termsOf(chain, { sell: "USDC", amount, buy: "WETH" })
        const { diamond, routedSwap } = chain.contracts
        const args = [routedSwap, 2n ** 256n - 1n] as const
        yield* transact(chain, account, {
          to: terms.sell,
          data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args })
        })
        assert.strictEqual(yield* verdict(chain, thief, { terms, route: honestRoute(chain, terms) }), "reverted")
        // Nor through the diamond, which spends for nobody but its caller.
        const data = routeOver(chain, inPools(chain, terms), thief.address)
        const { status } = yield* transact(chain, thief, { to: diamond, data })
        assert.strictEqual(status, "reverted")
      })
    )

    for (const [what, keptBps, sells, expected] of [
      ["sells a token that answers nothing", 0n, true, "accepted"],
      ["buys a token that answers nothing", 0n, false, "accepted"],
      ["does not sell a token that keeps a fee", 100n, true, "FeeOnTransfer"],
      ["does not buy a token that keeps a fee of what the venue pays", 100n, false, "TooLittle"]
    ] as const) {
      it.effect(what, () =>
        Effect.gen(function* () {
          const chain = yield* Base
          const odd = yield* deployOddToken(chain, account, keptBps)
          const usdc = addressOf(chain, "USDC")
          const { factory, routePools } = chain.contracts
          yield* transact(chain, account, {
            to: factory,
            data: encodeFunctionData({
              abi: parseAbi(["function createPair(address a, address b) returns (address)"]),
              functionName: "createPair",
              args: [odd, usdc]
            })
          })
          const pair = yield* Effect.promise(() =>
            chain.client.readContract({
              address: factory,
              abi: parseAbi(["function getPair(address a, address b) view returns (address)"]),
              functionName: "getPair",
              args: [odd, usdc]
            })
          )
          const depth = 1_000_000_000_000n
          yield* mintOdd(chain, account, { token: odd, account: pair, amount: depth })
          yield* mint(chain, pair, { token: tokenBySymbol(chain, "USDC"), amountRaw: depth })
          const sync = encodeFunctionData({ abi: parseAbi(["function sync()"]), functionName: "sync" })
          yield* transact(chain, account, { to: pair, data: sync })
          yield* mintOdd(chain, account, { token: odd, account: routePools, amount: depth })
          yield* mintOdd(chain, account, { token: odd, account: account.address, amount })
          yield* operate(chain.client, {
            what: "price the odd token",
            to: routePools,
            data: encodeFunctionData({
              abi: routePoolsAbi,
              functionName: "set",
              args: [[odd], [{ token: depth, unit: (depth / 1_000_000n) * 10n ** 18n }]]
            })
          })
          const [sell, buy] = sells ? [odd, usdc] : [usdc, odd]
          const terms = { sell, amount, buy, minOut: 0n, hub: zeroAddress, deadline: never }
          const route = honestRoute(chain, terms)
          assert.strictEqual(yield* verdict(chain, account, { terms, route }), expected)
        })
      )
    }
  })
})
