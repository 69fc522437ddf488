/**
 * Tests that whoever holds the agent's key, and the relayer's with it, takes at most the budget under the guard: two
 * percent at once. The same attempts empty an account under a permission without one (decision 3).
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, encodeFunctionData, erc20Abi } from "viem"
import { fromViem } from "#layers/evm/address.ts"
import { routerAbi } from "#layers/evm/contracts.ts"
import { runnerOf, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { quotedDeposit, timeOf } from "#sandbox/chain/spokePool.ts"
import { inPools, routeOver } from "#test/solidity/routedSwaps.ts"
import { EvmWorld, GuardedWorldLive, stranger } from "#test/layers/evm/EvmWorld.ts"
import { type Call } from "#test/layers/evm/relay/selfSubmitted.ts"
import {
  deadline,
  addressOf,
  held,
  worth,
  approve,
  attestedToken,
  attest,
  trade,
  attempt,
  enrolled,
  foundPool,
  pay,
  type Signed
} from "#test/layers/evm/guard/thief.ts"

describe("a stolen agent key under the guard", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect("an honest swap deploys the account, enables the permission and trades through the guard", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const { account, receipt } = yield* enrolled(chain, 201n)
        assert.isTrue(receipt.success)
        assert.isAbove(Number(yield* held(chain, "WETH", account)), 0)
        const [permission, tradeBps, budgetBps, left] = yield* Effect.promise(() =>
          chain.client.readContract({
            address: chain.contracts.guard,
            abi: tradeGuardAbi,
            functionName: "policyOf",
            args: [account]
          })
        )
        assert.isAbove(permission.validUntil, 0)
        assert.deepStrictEqual([tradeBps, budgetBps], [200n, 200n])
        // 0.3 % of a tenth of what the account listed, and the bands of both tokens, 0.75 %, in billionths.
        assert.isBelow(Number(left), 18_955_000)
        assert.isAbove(Number(left), 18_940_000)
      })
    )

    it.effect("gets nothing of 1,000 AERO over a pool that the thief founded for 4,000 raw units", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const { account, enrollment } = yield* enrolled(chain, 202n)
        yield* foundPool(chain, "AERO", "cbBTC")
        const { bridge, diamond, guard, router } = chain.contracts
        const before = yield* worth(chain, account)
        const all = yield* held(chain, "AERO", account)
        const path = [addressOf(chain, "AERO"), addressOf(chain, "cbBTC")]
        const swap = encodeFunctionData({
          abi: routerAbi,
          functionName: "swapExactTokensForTokens",
          args: [all, 0n, path, account, deadline]
        })
        const order = {
          token: addressOf(chain, "USDC"),
          amount: 900_000_000n,
          destinationChainId: 42161n,
          destinationToken: addressOf(chain, "USDC"),
          outputAmount: 0n
        }
        const deposit = quotedDeposit(order, account, yield* timeOf(chain))
        const transfer = encodeFunctionData({
          abi: erc20Abi,
          functionName: "transfer",
          args: [stranger.address, all]
        })
        const over = { sell: "AERO", buy: "cbBTC", amount: all } as const
        const robbing = routeOver(
          chain,
          inPools(chain, { sell: addressOf(chain, "AERO"), buy: addressOf(chain, "cbBTC"), amount: all }),
          stranger.address
        )
        const attempts: ReadonlyArray<readonly [string, ReadonlyArray<Call>]> = [
          ["CallNotAllowed", [approve(chain, "AERO", router), { to: router, data: swap }]],
          ["CallNotAllowed", [approve(chain, "AERO", guard), { to: router, data: swap }]],
          ["CallNotAllowed", [approve(chain, "USDC", bridge), { to: bridge, data: deposit }]],
          ["CallNotAllowed", [approve(chain, "AERO", stranger.address)]],
          ["CallNotAllowed", [{ to: addressOf(chain, "AERO"), data: transfer }]],
          ["UnfairTrade", [approve(chain, "AERO", guard), trade(chain, { ...over, venue: router, route: "0x" })]],
          ["UnfairTrade", [approve(chain, "AERO", guard), trade(chain, { ...over, venue: diamond, route: robbing })]],
          [
            "VenueNotListed",
            [approve(chain, "AERO", guard), trade(chain, { ...over, venue: stranger.address, route: "0x" })]
          ]
        ]
        for (const [refusal, calls] of attempts) assert.include(yield* attempt(chain, enrollment, calls), refusal)
        assert.strictEqual(yield* worth(chain, account), before)
        assert.strictEqual(yield* held(chain, "AERO", account), all)
      })
    )

    it.effect("takes at most two percent by trading at the limit until the budget ends", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const { account, enrollment } = yield* enrolled(chain, 203n)
        const { diamond, guard } = chain.contracts
        const runner = runnerOf(fromViem(guard)) as string as Address
        const before = yield* worth(chain, account)
        let made = 0
        let refusal = ""
        for (let turn = 0; turn < 30 && refusal === ""; turn += 1) {
          const [sell, buy] = turn % 2 === 0 ? (["USDC", "WETH"] as const) : (["WETH", "USDC"] as const)
          const amount = (yield* held(chain, sell, account)) / 4n
          yield* pay(chain, { sell, buy }, 9_850n)
          const route = routeOver(
            chain,
            inPools(chain, { sell: addressOf(chain, sell), buy: addressOf(chain, buy), amount }),
            runner
          )
          const answer = yield* attempt(chain, enrollment, [
            approve(chain, sell, guard),
            trade(chain, { sell, buy, amount, venue: diamond, route })
          ])
          if (answer === "included") made += 1
          else refusal = answer
        }
        assert.include(refusal, "BudgetExceeded")
        assert.isAbove(made, 2)
        const after = yield* worth(chain, account)
        assert.isAtLeast(Number((after * 10_000n) / before), 9_800)
        // The bands, 0.75 % of each trade, were charged too and not lost.
        assert.isAtMost(Number((after * 10_000n) / before), 9_900)
      })
    )

    it.effect("at exactly the feeds' prices, trades the account twice and no more", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const { account, enrollment } = yield* enrolled(chain, 205n)
        const { diamond, guard } = chain.contracts
        const runner = runnerOf(fromViem(guard)) as string as Address
        const whole = yield* worth(chain, account)
        const valueOf = (symbol: string, raw: bigint) => {
          const { assetId, decimals } = tokenBySymbol(chain, symbol)
          return (raw * chain.prices.price(assetId)) / 10n ** BigInt(decimals)
        }
        let traded = 0n
        let refusal = ""
        for (let turn = 0; turn < 30 && refusal === ""; turn += 1) {
          const [sell, buy] = turn % 2 === 0 ? (["USDC", "WETH"] as const) : (["WETH", "USDC"] as const)
          const amount = yield* held(chain, sell, account)
          yield* pay(chain, { sell, buy }, 10_100n)
          const route = routeOver(
            chain,
            inPools(chain, { sell: addressOf(chain, sell), buy: addressOf(chain, buy), amount }),
            runner
          )
          const answer = yield* attempt(chain, enrollment, [
            approve(chain, sell, guard),
            trade(chain, { sell, buy, amount, venue: diamond, route })
          ])
          if (answer === "included") traded += valueOf(sell, amount)
          else refusal = answer
        }
        assert.match(refusal, /TurnoverExceeded/u)
        // Whatever the market was: at most two accounts' worth at half a percent and a quarter more of each.
        assert.isTrue(traded > whole && traded < (whole * 21n) / 10n, `${traded} of ${whole}`)
      })
    )

    it.effect(
      "with the attestor's and the relayer's keys too, takes at most a step of the account and the budget",
      () =>
        Effect.gen(function* () {
          const { base: chain } = yield* EvmWorld
          const { account, enrollment } = yield* enrolled(chain, 204n)
          const { diamond, guard } = chain.contracts
          const runner = runnerOf(fromViem(guard)) as string as Address
          const { assetId } = tokenBySymbol(chain, attestedToken)
          const price = chain.prices.price(assetId)
          const before = yield* worth(chain, account)
          let made = 0
          let refusal = ""
          for (let turn = 0; turn < 40 && refusal === ""; turn += 1) {
            const isSale = turn % 2 === 1
            const [sell, buy] = isSale ? ([attestedToken, "USDC"] as const) : (["USDC", attestedToken] as const)
            const amount = (yield* held(chain, sell, account)) / (isSale ? 1n : 3n)
            // The attestor lies by the whole step in the direction of each trade, and the thief's pools pay by the lie.
            const lie = (price * (isSale ? 9_501n : 10_499n)) / 10_000n
            yield* pay(chain, { sell, buy }, 9_450n)
            const route = routeOver(
              chain,
              inPools(chain, { sell: addressOf(chain, sell), buy: addressOf(chain, buy), amount }),
              runner
            )
            const answer = yield* attempt(chain, enrollment, [
              approve(chain, sell, guard),
              trade(chain, { sell, buy, amount, venue: diamond, route }, [yield* attest(chain, lie)])
            ])
            if (answer === "included") made += 1
            else refusal = answer
          }
          // At attested prices turnover counts twice.
          assert.match(refusal, /TurnoverExceeded/u)
          assert.isAbove(made, 1)
          const left = Number(((yield* worth(chain, account)) * 10_000n) / before)
          assert.isAtLeast(left, 10_000 - 500 - 200)
          assert.isAtMost(left, 9_700)
          // Beyond the step, of another day, for another token or chain: nothing more.
          const route = "0x"
          const usual = {
            sell: "USDC",
            buy: attestedToken,
            amount: 1_000_000n,
            venue: chain.contracts.router,
            route
          } as const
          const old = yield* attest(chain, price)
          const refusals: ReadonlyArray<readonly [RegExp, Signed]> = [
            [/StepTooLarge/u, yield* attest(chain, price * 2n)],
            [/StepTooLarge/u, yield* attest(chain, price / 2n)],
            [/NotAttested/u, { ...old, price: price + 1n }],
            [/StalePrice/u, { ...old, time: old.time - 601 }]
          ]
          for (const [expected, signed] of refusals) {
            const calls = [approve(chain, "USDC", guard), trade(chain, usual, [signed])]
            assert.match(yield* attempt(chain, enrollment, calls), expected)
          }
          assert.include(
            yield* attempt(chain, enrollment, [approve(chain, "USDC", guard), trade(chain, usual)]),
            "PriceMissing"
          )
        })
    )
  })
})
