/** Tests what whoever holds the agent's key does by a bridge and by fees: nothing for himself, and little at all. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, encodeFunctionData, pad, parseEventLogs } from "viem"
import { fromViem } from "#layers/evm/address.ts"
import { runnerOf, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { spokePoolAbi } from "#sandbox/chain/spokePool.ts"
import { inPools, routeOver } from "#test/solidity/routedSwaps.ts"
import { EvmWorld, fund, GuardedWorldLive, stranger } from "#test/layers/evm/EvmWorld.ts"
import { signFee } from "#test/layers/evm/guard/signFee.ts"
import { type Call } from "#test/layers/evm/relay/selfSubmitted.ts"
import { addressOf, held, worth, approve, trade, attempt, enrolled, send, pay } from "#test/layers/evm/guard/thief.ts"

describe("a stolen agent key, bridges and fees", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect("over the bridge gives away at most two percent, and every deposit is the account's own", () =>
      Effect.gen(function* () {
        const { arbitrum, base: chain } = yield* EvmWorld
        const { account, enrollment } = yield* enrolled(chain, 206n)
        const { bridge, guard } = chain.contracts
        const whole = yield* worth(chain, account)
        const [dollar, fromBlock] = [1_000_000n, yield* Effect.promise(() => chain.client.getBlockNumber())]
        const { assetId } = tokenBySymbol(chain, "USDC")
        const asked = { amount: 50n * dollar, minOut: (50n * dollar * 9_799n) / 10_000n }
        const tooDear = [approve(chain, "USDC", guard), send({ arbitrum, base: chain }, asked)]
        assert.include(yield* attempt(chain, enrollment, tooDear), "UnfairTrade")
        let refusal = ""
        for (let turn = 0; turn < 30 && refusal === ""; turn += 1) {
          const amount = (yield* held(chain, "USDC", account)) / 3n
          const order = { amount, minOut: (amount * 9_801n) / 10_000n + 1n }
          const answer = yield* attempt(chain, enrollment, [
            approve(chain, "USDC", guard),
            send({ arbitrum, base: chain }, order)
          ])
          if (answer !== "included") refusal = answer
          // What arrives comes back for nothing, so that the thief sends to and fro for as long as the budget lasts.
          else yield* fund(chain, enrollment.account, { symbol: "USDC", raw: order.minOut })
        }
        assert.include(refusal, "BudgetExceeded")
        const logs = yield* Effect.promise(() =>
          chain.client.getLogs({ address: bridge, fromBlock: fromBlock + 1n, toBlock: "latest" })
        )
        const own = parseEventLogs({ abi: spokePoolAbi, eventName: "FundsDeposited", logs }).filter(
          ({ args }) => args.depositor === pad(account).toLowerCase()
        )
        assert.isAbove(own.length, 1)
        let lost = 0n
        for (const { args } of own) {
          assert.strictEqual(args.recipient, pad(account).toLowerCase())
          assert.strictEqual(args.exclusiveRelayer, pad("0x0"))
          assert.strictEqual(args.message, "0x")
          lost += ((args.inputAmount - args.outputAmount) * chain.prices.price(assetId)) / dollar
        }
        assert.isTrue(lost > 0n && lost * 100n <= whole * 2n, `${lost} of ${whole}`)
      })
    )

    it.effect("by fees makes nobody richer but whom the owner signed, by the signed share of twice the account", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const { account, enrollment } = yield* enrolled(chain, 207n)
        const integrator: Address = "0x00000000000000000000000000000000000f3E35"
        yield* signFee(chain, enrollment, { index: 207n, recipient: integrator, bps: 100 })
        const { diamond, guard } = chain.contracts
        const setFees = (bps: number): Call => ({
          to: guard,
          data: encodeFunctionData({ abi: tradeGuardAbi, functionName: "setFees", args: [bps, 0] })
        })
        assert.include(yield* attempt(chain, enrollment, [setFees(101)]), "FeeNotSigned")
        assert.strictEqual(yield* attempt(chain, enrollment, [setFees(50)]), "included")
        assert.strictEqual(yield* attempt(chain, enrollment, [setFees(100)]), "included")
        const runner = runnerOf(fromViem(guard)) as string as Address
        const whole = yield* worth(chain, account)
        const [thiefBefore, paidBefore] = [yield* worth(chain, stranger.address), yield* worth(chain, integrator)]
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
          if (answer !== "included") refusal = answer
        }
        assert.match(refusal, /TurnoverExceeded/u)
        const paid = (yield* worth(chain, integrator)) - paidBefore
        // Two percent of the account, and of what the pools pay above the world's price.
        assert.isTrue(paid * 100n > whole && paid * 1_000n < whole * 21n, `${paid} of ${whole}`)
        assert.strictEqual(yield* worth(chain, stranger.address), thiefBefore)
      })
    )
  })
})
