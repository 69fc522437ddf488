/**
 * Tests that whoever holds the agent's key, and the relayer's with it, takes at most the budget under the guard: two
 * percent at once. The same attempts empty an account under a permission without one (decision 3).
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, encodeFunctionData, erc20Abi, type Hex, pad, parseAbi, parseEventLogs } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { fromViem } from "#layers/evm/address.ts"
import { priceDigest } from "#layers/evm/attestation/priceDigest.ts"
import { routerAbi } from "#layers/evm/contracts.ts"
import { runnerOf, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { quotedDeposit, spokePoolAbi, timeOf } from "#sandbox/chain/spokePool.ts"
import { setRoutePools } from "#sandbox/chain/routePools.ts"
import { inPools, routeOver, transact } from "#test/solidity/routedSwaps.ts"
import {
  attestor,
  batchOf,
  type Enrollment,
  enroll,
  EvmWorld,
  execute,
  fund,
  GuardedWorldLive,
  quotedSwap,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { signFee } from "#test/layers/evm/guard/signFee.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"

const deadline = 10n ** 12n
const unlimited = 2n ** 256n - 1n

const liquidityAbi = parseAbi([
  "function addLiquidity(address a, address b, uint256 amountA, uint256 amountB, uint256 minA, uint256 minB, address to, uint256 deadline)"
])

const addressOf = (chain: Chain, symbol: string) => tokenBySymbol(chain, symbol).address

const held = (chain: Chain, symbol: string, owner: Address) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: addressOf(chain, symbol),
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [owner]
    })
  )

/** Values an account by the sandbox's prices, in US dollars of 18 decimals. */
const worth = Effect.fnUntraced(function* (chain: Chain, owner: Address) {
  const values = yield* Effect.forEach(chain.tokens, (token) =>
    Effect.map(
      held(chain, token.symbol, owner),
      (raw) => (raw * chain.prices.price(token.assetId)) / 10n ** BigInt(token.decimals)
    )
  )
  return values.reduce((sum, value) => sum + value, 0n)
})

const approve = (chain: Chain, symbol: string, spender: Address): Call => ({
  to: addressOf(chain, symbol),
  data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, unlimited] })
})

interface Attempt {
  readonly sell: string
  readonly buy: string
  readonly amount: bigint
  readonly venue: Address
  readonly route: Hex
}

const attestedToken = "SEAM"

/** A price of the token without a feed, by whoever has the attestor's key. */
const attest = (chain: Chain, price: bigint) =>
  Effect.promise(async () => {
    const time = Number((await chain.client.getBlock()).timestamp)
    const domain = { chainId: chain.chainId as ChainId, guard: chain.contracts.guard as string as EvmAddress }
    const said = { token: addressOf(chain, attestedToken) as string as EvmAddress, price, time }
    return { price, time, signature: await attestor.sign({ hash: priceDigest(domain, said) }) }
  })

type Signed = Effect.Success<ReturnType<typeof attest>>

const trade = (
  chain: Chain,
  { amount, buy, route, sell, venue }: Attempt,
  signed: ReadonlyArray<Signed> = []
): Call => {
  // All that the account may hold: the more is listed, the smaller the share that a loss is.
  const tokens = chain.tokens
    .filter(({ isAttested }) => !isAttested || [sell, buy].includes(attestedToken))
    .map(({ address }) => address)
    .toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const order = {
    venue,
    sell: tokens.indexOf(addressOf(chain, sell)),
    buy: tokens.indexOf(addressOf(chain, buy)),
    amount,
    minOut: 0n,
    route
  }
  return {
    to: chain.contracts.guard,
    data: encodeFunctionData({
      abi: tradeGuardAbi,
      functionName: "trade",
      args: [tokens, [order], { prices: signed, proofs: [] }, deadline]
    })
  }
}

/** What becomes of calls that the thief signs with the agent's key and submits himself. */
const attempt = (chain: Chain, enrollment: Enrollment, calls: ReadonlyArray<Call>) =>
  Effect.promise(async () => {
    const agent = await agentAccount(chain, enrollment)
    const answer = await submitAlone(
      chain,
      agent,
      await agent.encodeCalls(calls.map((call) => ({ value: 0n, ...call })))
    )
    if (answer._tag === "Included") return "included"
    return answer._tag === "Refused" ? answer.reason : revertReason(answer.data)
  })

const enrolled = Effect.fnUntraced(function* (chain: Chain, index: bigint) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH", "AERO", "cbBTC"]])
  const account = enrollment.account as string as Address
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
  yield* fund(chain, enrollment.account, { symbol: "AERO", raw: 1_000n * 10n ** 18n })
  const { receipt } = yield* execute(
    batchOf(enrollment, chain, [yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: 100_000_000n })])
  )
  return { enrollment, account, receipt }
})

/** A pool of two tokens that the thief founds with a few raw units, in the venue's own factory. */
const foundPool = Effect.fnUntraced(function* (chain: Chain, a: string, b: string) {
  const { router } = chain.contracts
  for (const symbol of [a, b]) {
    yield* fund(chain, fromViem(stranger.address), { symbol, raw: 1_000_000n })
    yield* transact(chain, stranger, { to: addressOf(chain, symbol), data: approve(chain, symbol, router).data })
  }
  const { status } = yield* transact(chain, stranger, {
    to: router,
    data: encodeFunctionData({
      abi: liquidityAbi,
      functionName: "addLiquidity",
      args: [addressOf(chain, a), addressOf(chain, b), 2_000n, 2_000n, 0n, 0n, stranger.address, deadline]
    })
  })
  assert.strictEqual(status, "success")
})

/** What the guard is asked to send to Arbitrum over the pool of Across's kind. */
const send = (
  { arbitrum, base }: { readonly base: Chain; readonly arbitrum: Chain },
  { amount, minOut }: { readonly amount: bigint; readonly minOut: bigint }
): Call => {
  const tokens = base.tokens
    .filter(({ isAttested }) => !isAttested)
    .map(({ address }) => address)
    .toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const order = {
    bridge: base.contracts.bridge,
    token: tokens.indexOf(addressOf(base, "USDC")),
    amount,
    chainId: BigInt(arbitrum.chainId),
    remoteToken: pad(addressOf(arbitrum, "USDC")),
    minOut
  }
  return {
    to: base.contracts.guard,
    data: encodeFunctionData({
      abi: tradeGuardAbi,
      functionName: "send",
      args: [tokens, order, { prices: [], proofs: [] }, deadline]
    })
  }
}

/** Pools of the thief's, which pay a share of the world's price in hundredths of a percent. */
const pay = (chain: Chain, { buy, sell }: { readonly sell: string; readonly buy: string }, bps: bigint) =>
  setRoutePools(chain, [tokenBySymbol(chain, sell), tokenBySymbol(chain, buy)], ({ assetId, symbol }) =>
    symbol === buy ? (chain.prices.price(assetId) * 10_000n) / bps : chain.prices.price(assetId)
  )

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
