/**
 * The agent may call `settle` of the withdrawal executor, so whoever holds its key may too: without the owner's
 * signature the call does nothing, and no other call of the executor passes the policy.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { type Address, decodeErrorResult, encodeFunctionData, erc20Abi, type Hex, parseAbi } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { revertReason } from "#layers/evm/revert/revertReason.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { type Authorization, domainOf, newAuthorization, signed } from "#test/solidity/withdrawals.ts"
import {
  agent,
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  fund,
  GuardedWorldLive,
  owner,
  stranger
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { type Call, outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { balances, balance, tradingAccount } from "#test/layers/evm/tradingAccount.ts"

/** An account that trades already, and that holds WETH and USDC. */
class Victim extends Context.Service<
  Victim,
  { readonly chain: Chain; readonly enrollment: Enrollment; readonly account: Address }
>()("ballast/test/SettlementVictim") {
  static readonly layer = Layer.effect(
    Victim,
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const enrollment = yield* tradingAccount(110n)
      return Victim.of({ chain: base, enrollment, account: enrollment.account as string as Address })
    })
  )
}

const recipient: Address = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"

/** What became of an operation that the thief signed with the agent's key and submitted himself. */
const attempt = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
  const { chain, enrollment } = yield* Victim
  const submission = yield* Effect.promise(async () => {
    const account = await agentAccount(chain, enrollment)
    return submitAlone(chain, account, await account.encodeCalls(calls))
  })
  if (submission._tag !== "Reverted") return outcomeOf(submission)
  return decodeErrorResult({ abi: withdrawalExecutorAbi, data: submission.data }).errorName
})

const settle = (
  chain: Chain,
  { authorization, signature }: { readonly authorization: Authorization; readonly signature: Hex },
  {
    keep = 0n,
    token = tokenBySymbol(chain, "USDC").address
  }: { readonly keep?: bigint | undefined; readonly token?: Address | undefined } = {}
): Call => ({
  to: withdrawalExecutor,
  data: encodeFunctionData({
    abi: withdrawalExecutorAbi,
    functionName: "settle",
    args: [authorization, signature, token, keep]
  })
})

const moduleAbi = parseAbi(["function onInstall(bytes data)", "function onUninstall(bytes data)"])

describe("A stolen agent key and the withdrawal executor", () => {
  layer(Layer.provideMerge(Victim.layer, EvmWorldLive), { excludeTestServices: true })((it) => {
    it.effect("an authorization of nobody, of the thief, of another version or for another account moves nothing", () =>
      Effect.gen(function* () {
        const { account, chain } = yield* Victim
        const before = yield* balances(chain, account as string as EvmAddress)
        const authorization = yield* newAuthorization(chain, stranger.address)
        const liquidating = domainOf(chain, account, "2")
        const signatures = yield* Effect.promise(() =>
          Promise.all([
            "0x" as Hex,
            signed(agent, liquidating, authorization),
            signed(stranger, liquidating, authorization),
            signed(owner, domainOf(chain, account, "1"), authorization),
            signed(owner, domainOf(chain, stranger.address, "2"), authorization),
            signed(owner, { ...liquidating, chainId: 42161 }, authorization),
            signed(owner, liquidating, { ...authorization, recipient })
          ])
        )
        for (const signature of signatures) {
          assert.strictEqual(yield* attempt([settle(chain, { authorization, signature })]), "NotSignedByOwner")
        }
        assert.deepStrictEqual(yield* balances(chain, account as string as EvmAddress), before)
      })
    )

    it.effect("one that the owner signed pays the owner's recipient, once and in time", () =>
      Effect.gen(function* () {
        const { account, chain } = yield* Victim
        const liquidating = domainOf(chain, account, "2")
        const past = { ...(yield* newAuthorization(chain, recipient)), expiresAt: 1n }
        const late = yield* Effect.promise(() => signed(owner, liquidating, past))
        assert.strictEqual(yield* attempt([settle(chain, { authorization: past, signature: late })]), "Expired")
        const authorization = yield* newAuthorization(chain, recipient)
        const signature = yield* Effect.promise(() => signed(owner, liquidating, authorization))
        const held = yield* balance(chain, "USDC", account as string as EvmAddress)
        const call = settle(chain, { authorization, signature }, { keep: held - 5_000_000n })
        assert.strictEqual(yield* attempt([call]), "included")
        assert.strictEqual(yield* balance(chain, "USDC", recipient as string as EvmAddress), 5_000_000n)
        assert.strictEqual(yield* attempt([settle(chain, { authorization, signature })]), "NonceUsed")
        assert.strictEqual(yield* balance(chain, "USDC", recipient as string as EvmAddress), 5_000_000n)
      })
    )

    it.effect("no other call of the executor passes, nor one beside an allowed one", () =>
      Effect.gen(function* () {
        const { account, chain } = yield* Victim
        const before = yield* balances(chain, account as string as EvmAddress)
        const authorization = yield* newAuthorization(chain, recipient)
        const [plain, liquidating] = yield* Effect.promise(() =>
          Promise.all([
            signed(owner, domainOf(chain, account, "1"), authorization),
            signed(owner, domainOf(chain, account, "2"), authorization)
          ])
        )
        const withdraw = encodeFunctionData({
          abi: withdrawalExecutorAbi,
          functionName: "withdraw",
          args: [account, authorization, plain]
        })
        const transfer = encodeFunctionData({
          abi: erc20Abi,
          functionName: "transfer",
          args: [stranger.address, 1n]
        })
        const refused: ReadonlyArray<ReadonlyArray<Call>> = [
          [{ to: withdrawalExecutor, data: withdraw }],
          [
            {
              to: withdrawalExecutor,
              data: encodeFunctionData({ abi: moduleAbi, functionName: "onUninstall", args: ["0x"] })
            },
            {
              to: withdrawalExecutor,
              data: encodeFunctionData({
                abi: moduleAbi,
                functionName: "onInstall",
                args: [`${stranger.address}${"00".repeat(32)}`]
              })
            }
          ],
          [
            settle(chain, { authorization, signature: liquidating }),
            { to: tokenBySymbol(chain, "USDC").address, data: transfer }
          ]
        ]
        for (const calls of refused) assert.match(yield* attempt(calls), /^AA23/u)
        assert.deepStrictEqual(yield* balances(chain, account as string as EvmAddress), before)
      })
    )
  })
})

/** What became of an operation, in words of whichever contract refused it. */
const attemptGuarded = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
  const { chain, enrollment } = yield* Victim
  const submission = yield* Effect.promise(async () => {
    const account = await agentAccount(chain, enrollment)
    return submitAlone(chain, account, await account.encodeCalls(calls))
  })
  return submission._tag === "Reverted" ? revertReason(submission.data) : outcomeOf(submission)
})

/** A thousandth of a WETH. */
const signedWeth = 10n ** 15n

interface Payout {
  readonly authorization: Authorization
  readonly signature: Hex
  readonly keep: bigint
  /** Raw units of WETH that are sold; the owner signed all of them or none. */
  readonly sold?: bigint
  readonly token?: Address
}

/** The sales of a withdrawal and its payment, as the policy wants them: one after the other. */
const liquidation = (
  chain: Chain,
  { authorization, keep, signature, sold = 0n, token }: Payout
): ReadonlyArray<Call> => {
  const { guard, router } = chain.contracts
  const [usdc, weth] = ["USDC", "WETH"].map((symbol) => tokenBySymbol(chain, symbol).address) as [Address, Address]
  const listed = [usdc, weth].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const [sell, buy] = [listed.indexOf(weth), listed.indexOf(usdc)]
  const trades = sold === 0n ? [] : [{ venue: router, sell, buy, amount: sold, minOut: 0n, route: "0x" as Hex }]
  const payout = { assets: authorization.assets, token: token ?? usdc, keep }
  return [
    { to: weth, data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [guard, sold] }) },
    {
      to: guard,
      data: encodeFunctionData({
        abi: tradeGuardAbi,
        functionName: "liquidate",
        args: [payout, listed, trades, { prices: [], proofs: [] }, 10n ** 12n]
      })
    },
    settle(chain, { authorization, signature }, { keep, token })
  ]
}

describe("A stolen agent key under the guard that holds an owner's unexpired liquidating withdrawal", () => {
  layer(Layer.provideMerge(Victim.layer, GuardedWorldLive), { excludeTestServices: true })((it) => {
    /** The owner signed ten dollars, and the sale of a thousandth of a WETH. */
    const authorized = Effect.fnUntraced(function* () {
      const { account, chain } = yield* Victim
      const [usdc, weth] = ["USDC", "WETH"].map((symbol) => tokenBySymbol(chain, symbol).address)
      const authorization: Authorization = {
        ...(yield* newAuthorization(chain, recipient)),
        assets: [
          { token: usdc!, amount: 10_000_000n },
          { token: weth!, amount: signedWeth }
        ]
      }
      const signature = yield* Effect.promise(() => signed(owner, domainOf(chain, account, "2"), authorization))
      const held = yield* balance(chain, "USDC", account as string as EvmAddress)
      return { account, authorization, chain, keep: held - 10_000_000n, signature }
    })

    const paidBy = Effect.fnUntraced(function* (chain: Chain, calls: ReadonlyArray<Call>) {
      const before = yield* balance(chain, "USDC", recipient as string as EvmAddress)
      assert.strictEqual(yield* attemptGuarded(calls), "included")
      return (yield* balance(chain, "USDC", recipient as string as EvmAddress)) - before
    })

    it.effect("pays nothing but right after the sales of the same withdrawal, and in the registry's token alone", () =>
      Effect.gen(function* () {
        const { account, authorization, chain, keep, signature } = yield* authorized()
        const before = yield* balances(chain, account as string as EvmAddress)
        const [approval, sales, payment] = liquidation(chain, { authorization, keep, signature, sold: signedWeth })
        for (const calls of [[payment!], [approval!, sales!], [payment!, sales!], [sales!, approval!, payment!]]) {
          assert.match(yield* attemptGuarded(calls), /^AA23/u)
        }
        const [, , otherPayment] = liquidation(chain, { authorization, keep: keep - 1n, signature })
        assert.match(yield* attemptGuarded([approval!, sales!, otherPayment!]), /^AA23/u)
        for (const symbol of ["WETH", "AERO", "cbBTC"]) {
          const token = tokenBySymbol(chain, symbol).address
          assert.include(
            yield* attemptGuarded(liquidation(chain, { authorization, keep: 0n, signature, token })),
            "NotForPayout"
          )
        }
        assert.deepStrictEqual(yield* balances(chain, account as string as EvmAddress), before)
      })
    )

    it.effect("sells the signed amount, and pays neither more nor less than it brings and what was signed", () =>
      Effect.gen(function* () {
        const { account, authorization, chain, keep, signature } = yield* authorized()
        const before = yield* balances(chain, account as string as EvmAddress)
        const terms = { authorization, signature, sold: signedWeth }
        const slack = keep / 100n + 1_000_000n
        for (const wrong of [0n, keep / 2n, keep - slack - 1n, keep + 1n, keep + 9_000_000n]) {
          assert.include(yield* attemptGuarded(liquidation(chain, { ...terms, keep: wrong })), "WrongKeep")
        }
        for (const sold of [0n, signedWeth / 2n, signedWeth + 1n, signedWeth * 20n]) {
          assert.include(yield* attemptGuarded(liquidation(chain, { ...terms, keep, sold })), "NotAsSigned")
        }
        assert.deepStrictEqual(yield* balances(chain, account as string as EvmAddress), before)
        const paid = yield* paidBy(chain, liquidation(chain, { ...terms, keep }))
        const kept = yield* balance(chain, "USDC", account as string as EvmAddress)
        assert.strictEqual(kept, keep)
        // A thousandth of a WETH is more than a dollar in this world.
        assert.isTrue(paid > 11_000_000n && paid < 20_000_000n, `${paid}`)
      })
    )

    it.effect("a dollar that somebody sends the account meanwhile refuses nothing, and goes to the recipient", () =>
      Effect.gen(function* () {
        const { account, authorization, chain, keep, signature } = yield* authorized()
        const calls = liquidation(chain, { authorization, keep, signature, sold: signedWeth })
        yield* fund(chain, account as string as EvmAddress, { symbol: "USDC", raw: 1_000_000n })
        const paid = yield* paidBy(chain, calls)
        assert.isTrue(paid > 12_000_000n && paid < 21_000_000n, `${paid}`)
        assert.strictEqual(yield* balance(chain, "USDC", account as string as EvmAddress), keep)
      })
    )
  })
})
